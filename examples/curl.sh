#!/bin/sh
# One refund over the HTTP API with curl, from handing it in to its line in the reconciliation.
#
#   tranche serve --sandbox --with-worker          # in another terminal; or a real one
#   export TRANCHE_API=http://127.0.0.1:7800 TRANCHE_KEY=trk_…
#   sh examples/curl.sh ORDER_ID
set -eu
order=${1:?the order id of the sale to refund}
: "${TRANCHE_API:?}" "${TRANCHE_KEY:?}"
reference="curl-$order-$(date +%s)-$$"

# The key goes in by a file descriptor: on the command line every user of the machine could read it.
ask() {
  curl --silent --show-error --max-time 30 --config - "$@" <<EOF
header = "Authorization: Bearer $TRANCHE_KEY"
EOF
}
# act PATH NAME JSON: something that changes something. Repeated under the same name, it is done once.
act() {
  ask --header 'Content-Type: application/json' --header "Idempotency-Key: $2" --data "$3" "$TRANCHE_API$1"
}
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

body="{\"schema_version\":1,\"reference\":\"$reference\",\"transaction_type\":\"REFUND\",\"amount\":\"1.50\",\"request_currency\":\"EUR\",\"request_ref_po_id\":\"$order\"}"
echo "Hand it in:"
taken=$(act /v1/instructions "$reference" "$body")
echo "$taken"
batch=$(echo "$taken" | member batch)
case $(echo "$taken" | member status) in
  accepted | duplicate) ;;
  *) echo "It was not taken." >&2; exit 1 ;; # a refusal may name the batch of the row that it looks like
esac

echo "Hand it in again, as after a lost answer: nothing is sent twice."
act /v1/instructions "$reference" "$body"
echo

echo "Wait for its end:"
tries=0
while :; do
  found=$(ask "$TRANCHE_API/v1/instructions?reference=$reference")
  status=$(echo "$found" | member status)
  case $status in
    APPROVED | DECLINED | FAILED | CANCELLED) echo "$status"; break ;;
    IN_DOUBT) echo "It may have been executed: a person looks it up (GET /v1/doubts)."; break ;;
  esac
  tries=$((tries + 1))
  [ "$tries" -lt 150 ] || { echo "still $status: does a worker run?" >&2; exit 1; }
  sleep 0.2
done

echo "The batch, its history and its results:"
ask "$TRANCHE_API/v1/batches/$batch"
echo
ask "$TRANCHE_API/v1/instructions/$reference/history"
echo
ask "$TRANCHE_API/v1/batches/$batch/results.csv"
