# Chromium without a window, for scripts of this room, read with `.`. $chromium is its command; empty: there is none.
chromium=$(command -v chromium || command -v google-chrome || true)

# browse [OPTION...] URL: one page, as the options say. A browser that hangs is killed; it is tried once more, as is one that crashes.
browse() {
    browse_once "$@" || { [ $? -ge 124 ] && browse_once "$@"; }
}

browse_once() (
    profile=$(mktemp -d)
    trap 'rm -rf "$profile"' EXIT
    timeout -k 5 "${BROWSER_LIMIT:-600}" "$chromium" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$profile" "$@"
)
