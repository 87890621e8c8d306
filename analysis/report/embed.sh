#!/bin/sh
# Files as C strings, for a page with a content security policy: embed.sh FILE...
#
# NAME.css becomes `name_css`, and `name_css_hash` is the SHA-256 in base64 by which the policy allows it.
set -eu
for file; do
    name=$(basename "$file" | tr . _)
    echo "static const char $name[] ="
    sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' "$file"
    # Three hexadecimal digits are two of base 64; the last of 64 is four bits, which two zeros complete.
    hash=$(sha256sum <"$file" | awk '{
        base = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (i = 1; i <= 64; i += 3) {
            bits = 0
            for (k = i; k < i + 3; k++)
                bits = 16 * bits + (k > 64 ? 0 : index("123456789abcdef", substr($1, k, 1)))
            printf "%s%s", substr(base, int(bits / 64) + 1, 1), (i < 64 ? substr(base, bits % 64 + 1, 1) : "=")
        }
    }')
    printf ';\nstatic const char %s_hash[] = "%s";\n' "$name" "$hash"
done
