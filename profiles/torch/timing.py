"""What the scripts beside this file share: times of a GPU by events, and the file that keeps the figures of a machine."""
import datetime
import json
import os
import statistics
import subprocess

import torch


def seconds(call, calls, sets):
    """Seconds that a call takes, of so many, which use the sets of buffers in turns."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for k in range(calls):
        call(k % sets)
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / calls


def medians(by_name, groups, calls, sets):
    """The median seconds of each call, all of them in turns. A first group more, in which PyTorch compiles or tries what it has and the
    GPU wakes up, does not count."""
    times = {name: [] for name in by_name}
    for group in range(groups + 1):
        for name, call in by_name.items():
            took = seconds(call, calls, sets)
            if group:
                times[name].append(took)
    return {name: statistics.median(took) for name, took in times.items()}


def write(path, figures):
    """Writes the figures, and which machine they are of, to the file, whole or not at all, and prints them."""
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"],
                            capture_output=True, text=True, check=True).stdout.strip()
    result = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "gpu": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__, **figures,
    }
    with open(path + ".new", "w") as out:
        json.dump(result, out, indent=1, sort_keys=True)
        out.write("\n")
    os.replace(path + ".new", path)
    print(json.dumps(result, indent=1))
