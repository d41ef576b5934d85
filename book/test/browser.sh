#!/bin/sh
# Tests how the book's scripts use a browser (book/browser.sh), with a stand-in for Chromium.
set -u
. book/test/counting
. book/browser.sh

# The stand-in hangs as often as $scratch/hangs has lines, and then prints its last argument; it fails if that is `bad`, and crashes if
# it is `crash`.
chromium=$scratch/chromium
cat >"$chromium" <<'END'
#!/bin/sh
cd "${0%/*}" && echo try >>tries
if [ "$(wc -l <tries)" -le "$(wc -l <hangs)" ]; then exec sleep 100; fi
for last; do :; done
echo "$last"
[ "$last" != crash ] || kill -SEGV $$
[ "$last" != bad ]
END
chmod +x "$chromium"
export BROWSER_LIMIT=1

# shows HANGS TRIES STATUS PAGE: so many tries are made of a browser that hangs at first, and they end so.
shows() {
    : >"$scratch/tries"
    yes | head -n "$1" >"$scratch/hangs"
    said=$(browse "$4" 2>/dev/null)
    status=$?
    [ "$status" -eq "$3" ] && [ "$(wc -l <"$scratch/tries")" -eq "$2" ]
    verdict "$1 hangs, $4: ends with $status, not $3, after $(wc -l <"$scratch/tries") tries, not $2"
}
shows 0 1 0 page
[ "$said" = page ]
verdict "what the browser prints does not come through: $said"
shows 1 2 0 page
shows 2 2 124 page
shows 0 2 139 crash
shows 0 1 1 bad             # an error is no hang
finish
