#!/usr/bin/env bash
# slurm_node.sh COMMAND...: runs a command beside a Slurm of this one machine, which is there for that
# long: a controller, a node of 8 CPUs, and munge, all as root, with their files in a folder of their own.
# Exit code: the command's; 77 and the reason on standard output where no such Slurm can be started.
set -euo pipefail

skip() {
  echo "$1"
  exit 77
}

for program in munged slurmctld slurmd srun sbatch; do
  command -v "$program" >/dev/null || skip "there is no $program: install munge and slurm-wlm"
done
[ "$(id -u)" -eq 0 ] || skip "only root can start a Slurm"

folder=$(mktemp -d /tmp/oplens-slurm.XXXXXX)
chmod 711 "$folder"
mkdir "$folder/state" "$folder/spool" "$folder/log"
daemons=()
stop() {
  # The node before the controller, and the keys last.
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    kill "${daemons[i]}" 2>/dev/null || true
    wait "${daemons[i]}" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap stop EXIT

begin() {
  "$@" >>"$folder/log/output" 2>&1 &
  daemons+=($!)
}

# Waits up to 20 s for a command to succeed.
await() {
  for _ in $(seq 100); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.2
  done
  tail -n 3 "$folder"/log/* | tr '\n' ' ' >"$folder/why"
  skip "Slurm does not start: $(cat "$folder/why")"
}

node=$(hostname -s)
port=$((20000 + $$ % 5000 * 2))
head -c 64 /dev/urandom >"$folder/munge.key"
chmod 400 "$folder/munge.key"
cat >"$folder/slurm.conf" <<EOF
ClusterName=oplens
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
NodeName=$node NodeAddr=127.0.0.1 CPUs=8 RealMemory=64000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
export SLURM_CONF=$folder/slurm.conf

begin munged --force --foreground --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
  --pid-file="$folder/munged.pid" --log-file="$folder/log/munged" --seed-file="$folder/seed" --origin=127.0.0.1
await test -S "$folder/munge.socket"
begin slurmctld -D -c -f "$SLURM_CONF"
await scontrol ping
begin slurmd -D -f "$SLURM_CONF" -N "$node"
node_is_idle() { [ "$(sinfo -h -o %T)" = idle ]; }
await node_is_idle

"$@"
