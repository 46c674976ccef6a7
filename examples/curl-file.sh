#!/bin/sh
# A file over the HTTP API with curl: uploaded, checked, handed in, and followed to its results.
#
#   tranche serve --sandbox --with-worker          # in another terminal; or a real one
#   export TRANCHE_API=http://127.0.0.1:7800 TRANCHE_KEY=trk_…
#   sh examples/curl-file.sh examples/refunds.csv COUNT EUR=TOTAL REFUND      # what you know of the file, not what the check says
set -eu
file=${1:?a file} count=${2:?how many rows it has} total=${3:?what it adds up to, such as EUR=41280.55}
operation=${4-} # what its rows are, where no column says it
: "${TRANCHE_API:?}" "${TRANCHE_KEY:?}"

# The key goes in by a file descriptor: on the command line every user of the machine could read it.
ask() {
  curl --silent --show-error --max-time 300 --config - "$@" <<EOF
header = "Authorization: Bearer $TRANCHE_KEY"
EOF
}
post() { ask --header 'Content-Type: application/json' --data "$2" "$TRANCHE_API$1"; }
member() { sed -n "s/^.*\"$1\":\"\([^\"]*\)\".*$/\1/p"; }
first() { sed -n "s/^[^{]*{\"$1\":\"\([^\"]*\)\".*$/\1/p"; }

echo "Upload it, with its hash: a file that is cut on its way is refused."
hash=$(sha256sum "$file" | cut -d' ' -f1)
uploaded=$(ask --form "sha256=$hash" --form "file=@$file" "$TRANCHE_API/v1/files")
echo "$uploaded"
id=$(echo "$uploaded" | first id)
[ -n "$id" ] || exit 1

echo "Check it: nothing is recorded."
check=$(post /v1/checks "{\"file\":\"$id\"${operation:+,\"operation\":\"$operation\"}}" | first check)
[ -n "$check" ] || exit 1
while :; do
  checked=$(ask "$TRANCHE_API/v1/checks/$check")
  case $checked in *'"state":"queued"'* | *'"state":"reading"'*) sleep 0.2 ;; *) break ;; esac
done
echo "$checked"
case $checked in *'"ok":true'*) ;; *) exit 1 ;; esac
ask "$TRANCHE_API/v1/checks/$check/rows?limit=3"
echo

echo "Hand it in. Repeated under the same Idempotency-Key, it is the same batch."
body="{\"check\":\"$check\",\"expect\":{\"count\":$count,\"totals\":{\"${total%%=*}\":\"${total#*=}\"}}}"
made=$(ask --header 'Content-Type: application/json' --header "Idempotency-Key: $check" --data "$body" "$TRANCHE_API/v1/batches")
echo "$made"
batch=$(echo "$made" | first batch)
[ -n "$batch" ] || exit 1

echo "Wait for its end:"
tries=0
while :; do
  state=$(ask "$TRANCHE_API/v1/batches/$batch" | member state)
  case $state in done | awaiting_approval | needs_attention) echo "$state"; break ;; esac
  tries=$((tries + 1))
  [ "$tries" -lt 300 ] || { echo "still $state: does a worker run?" >&2; exit 1; }
  sleep 0.2
done
ask "$TRANCHE_API/v1/batches/$batch/results.csv"
