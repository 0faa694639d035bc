#!/bin/sh
# Behaviour cloning, then rounds of DAgger: the student drives in training episodes, the expert labels what it sees,
# the policy goes on learning from everything collected so far.
#   ENCODER=encoder.pt OUT=folder [BLIND=--no-instruction] sh resources/training/dagger.sh
# Runs from the repository; PYTHON and NODE may name the interpreters (Node 24; see README.md).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
: "${PYTHON:=python3}" "${NODE:=node}" "${ENCODER:?}" "${OUT:?}" "${BLIND:=}" "${SEED:=1}" "${THREADS:=1}"
: "${CLONED:=3000}" "${ROUNDS:=5}" "${PER_ROUND:=2500}"
: "${CLONING_EPOCHS:=5}" "${EPOCHS:=4}" "${LONG_FROM:=5}" "${LONG_EPOCHS:=8}"
mkdir -p "$OUT"

# Stages that are done already are kept, so an interrupted run goes on where it was.
collect() { # model, first episode, how many, expert's share, folder
  "$NODE" --import "$here/register-agentcanvas.mjs" "$here/collect-rollouts.ts" $BLIND --seed "$SEED" \
    --model "$1" --first "$2" --count "$3" --expert-share "$4" --out "$5"
}
collect_by_two() {
  if [ -e "${5}a/manifest.json" ] && [ -e "${5}b/manifest.json" ]; then return; fi
  half=$(($3 / 2))
  collect "$1" "$2" "$half" "$4" "$5a" & other=$!
  collect "$1" "$(($2 + half))" "$half" "$4" "$5b"
  wait "$other"
}
learn() { PYTHONPATH="$here" "$PYTHON" -m minivln_policy.train_policy --bfloat16 --threads "$THREADS" --seed "$SEED" $BLIND "$@"; }
export_agent() { PYTHONPATH="$here" "$PYTHON" -m minivln_policy.export --encoder "$ENCODER" "$@"; }

# What the expert sees does not depend on the instruction: BC rollouts may be shared by setting CLONES.
: "${CLONES:=$OUT/cloned}"
[ -e "${CLONES}a/manifest.json" ] || export_agent --features --out "$OUT/start.onnx"
collect_by_two "$OUT/start.onnx" 0 "$CLONED" 1 "$CLONES"
set -- "${CLONES}a" "${CLONES}b"
[ -e "$OUT/round0.pt" ] || learn --data "$@" --epochs "$CLONING_EPOCHS" --out "$OUT/round0.pt"

round=1
while [ "$round" -le "$ROUNDS" ]; do
  before=$((round - 1))
  share=$([ "$round" -le 2 ] && echo 0.3 || echo 0.1)
  epochs=$([ "$round" -lt "$LONG_FROM" ] && echo "$EPOCHS" || echo "$LONG_EPOCHS")
  [ -e "$OUT/round$before.onnx" ] ||
    export_agent --policy "$OUT/round$before.pt" --features --out "$OUT/round$before.onnx"
  collect_by_two "$OUT/round$before.onnx" $(((CLONED + before * PER_ROUND) % 10000)) "$PER_ROUND" "$share" "$OUT/rollouts$round"
  set -- "$@" "$OUT/rollouts${round}a" "$OUT/rollouts${round}b"
  [ -e "$OUT/round$round.pt" ] ||
    learn --data "$@" --start "$OUT/round$before.pt" --epochs "$epochs" --out "$OUT/round$round.pt"
  round=$((round + 1))
done
export_agent --policy "$OUT/round$ROUNDS.pt" --out "$OUT/agent.onnx"
