"""What aria2p's documentation shows, done against a server that is named; one JSON line for each step.

aria2p_scenario.py PORT SECRET URL DIR: URL is of a folder of files `small` and `large`, DIR is the server's own folder.
"""
import json
import sys
import time

import aria2p

port, secret, base, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
client = aria2p.Client(host="http://127.0.0.1", port=port, secret=secret, timeout=20)
api = aria2p.API(client)


def say(step, value):
    print(json.dumps({"step": step, "value": value}), flush=True)


def fault(step, call):
    try:
        call()
        say(step, "no fault")
    except aria2p.ClientException as error:
        message = error.message
        for gid in gids:
            message = message.replace(gid, "GID")
        say(step, [error.code, message])


def until(what, condition):
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            sys.exit("not within 30 s: " + what)
        # Between two looks at another process.
        time.sleep(0.02)


def status(gid):
    return client.tell_status(gid, ["status"])["status"]


gids = []


def add(name, **options):
    download = api.add_uris([base + name], options={k.replace("_", "-"): v for k, v in options.items()})
    gids.append(download.gid)
    return download


# A download to its end.
small = add("small", out="one.bin")
until("one.bin is complete", lambda: status(small.gid) == "complete")
small.update()
say("complete", [small.status, small.is_complete, small.total_length, small.completed_length, small.progress,
                 str(small.files[0].path)[len(folder):], small.error_code, len(small.gid)])
say("files", [[f.index, f.length, f.completed_length, f.selected] for f in small.files])
fault("uris of what has ended", lambda: client.get_uris(small.gid))
fault("servers of what has ended", lambda: client.get_servers(small.gid))
fault("pause what has ended", lambda: client.pause(small.gid))
fault("unpause what has ended", lambda: client.unpause(small.gid))
fault("remove what has ended", lambda: client.remove(small.gid))

# Downloads that wait, paused, and their order.
waiting = [add("small", out=f"w{index}.bin", pause="true") for index in range(4)]
until("they are paused", lambda: all(status(one.gid) == "paused" for one in waiting))
names = {one.gid: f"w{index}" for index, one in enumerate(waiting)}
order = lambda: [names.get(one["gid"], "?") for one in client.tell_waiting(0, 10, ["gid"])]
say("order", order())
say("from the end", [names.get(one["gid"], "?") for one in client.tell_waiting(-1, 2, ["gid"])])
say("to the top", [client.change_position(waiting[3].gid, 0, "POS_SET"), order()])
say("to the end but one", [client.change_position(waiting[0].gid, -1, "POS_END"), order()])
say("one down", [client.change_position(waiting[3].gid, 1, "POS_CUR"), order()])
fault("a way that there isn't", lambda: client.change_position(waiting[0].gid, 0, "POS_X"))
fault("pause what is paused", lambda: client.pause(waiting[0].gid))
say("a part of a gid", client.tell_status(waiting[0].gid[:8], ["status"]))
say("uris", [one["status"] for one in client.get_uris(waiting[0].gid)])
fault("servers of what waits", lambda: client.get_servers(waiting[0].gid))
say("remove", client.remove(waiting[0].gid) == waiting[0].gid)
until("it is gone", lambda: "w0" not in order())
fault("what never began leaves no result", lambda: client.tell_status(waiting[0].gid))
say("resume", client.unpause(waiting[1].gid) == waiting[1].gid)
until("w1 is complete", lambda: status(waiting[1].gid) == "complete")

# One that is under way.
large = add("large", out="large.bin", max_download_limit="20K")
until("it has begun", lambda: status(large.gid) == "active" and int(client.tell_status(large.gid)["completedLength"]) > 0)
say("active", [sorted(client.tell_status(large.gid, ["gid", "status"])), len(client.tell_active(["gid"])),
               client.tell_status(large.gid)["totalLength"]])
say("servers", [one["index"] for one in client.get_servers(large.gid)])
say("pause", client.pause(large.gid) == large.gid)
until("it pauses", lambda: status(large.gid) == "paused")
say("unpause", client.unpause(large.gid) == large.gid)
until("it goes on", lambda: status(large.gid) == "active")
say("limit", client.change_option(large.gid, {"max-download-limit": "30K"}))
say("limit now", client.get_option(large.gid)["max-download-limit"])
say("force remove", client.force_remove(large.gid) == large.gid)
until("it is removed", lambda: status(large.gid) == "removed")

# What fails.
lost = add("missing", out="missing.bin")
until("it fails", lambda: status(lost.gid) == "error")
say("error", client.tell_status(lost.gid, ["status", "errorCode"]))

# The service.
say("global", [client.change_global_option({"max-concurrent-downloads": "3"}),
               client.get_global_option()["max-concurrent-downloads"]])
fault("a number that is none", lambda: client.change_global_option({"max-concurrent-downloads": "x"}))
say("an option that there isn't", client.change_global_option({"no-such-option": "1"}))
say("counts", {key: value for key, value in client.get_global_stat().items() if key in ("numActive", "numWaiting")})
say("stopped", [one["status"] for one in client.tell_stopped(0, 10, ["status"])])
say("stopped backwards", [one["status"] for one in client.tell_stopped(-1, 2, ["status"])])
say("remove a result", client.remove_download_result(small.gid))
fault("what has no result", lambda: client.tell_status(small.gid))
fault("a result of what waits", lambda: client.remove_download_result(waiting[2].gid))
say("purge", client.purge_download_result())
say("stopped now", client.tell_stopped(0, 10))
say("pause all", client.pause_all())
say("unpause all", client.unpause_all())
until("everything is complete", lambda: not client.tell_waiting(0, 10) and not client.tell_active())
fault("no such gid", lambda: client.tell_status("0000000000000000"))
fault("no gid", lambda: client.tell_status("zz"))
fault("no address", lambda: client.add_uri([]))
fault("no address that is one", lambda: client.add_uri(["nothing"]))
say("many calls", [len(one) if isinstance(one, list) else one for one in
                   client.multicall2([(client.GET_VERSION, []), (client.TELL_STATUS, ["00"])])])
say("session", sorted(client.get_session_info()))
say("version", sorted(client.get_version()))
say("notifications", sorted(set(client.list_notifications()) - {"aria2.onBtDownloadComplete"}))
