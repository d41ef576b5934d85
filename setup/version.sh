#!/bin/sh
# Prints the version, which the file VERSION holds, and in a clone the commit: 0.1.0 (b9f8b68)
root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
version=$(cat "$root/VERSION") || exit 1
[ ! -e "$root/.git" ] || commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null)
echo "$version${commit:+ ($commit)}"
