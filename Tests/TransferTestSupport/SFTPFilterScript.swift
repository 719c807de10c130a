/// A filter between an SSH server and its SFTP server (``SSHServer/Options/sftp``). Its faults come from files named
/// `fault.json` in the folders that clients name: `[{"op": "OPEN", "after": 0, "reply": 3, "times": 1}]`.
///
/// `after` counts bytes of WRITE. `reply` is a code of SSH_FXP_STATUS (draft-ietf-secsh-filexfer-02 §7), and without it
/// the connection ends. `late` carries out the request before the fault. `mute` answers nothing, and keeps the
/// connection.
public enum SFTPFilterScript {
    public static let text = """
        import json, os, struct, subprocess, sys, threading, time
        OPS = {3: "OPEN", 4: "CLOSE", 6: "WRITE", 7: "LSTAT", 8: "FSTAT", 9: "SETSTAT", 10: "FSETSTAT", 13: "REMOVE",
               14: "MKDIR", 17: "STAT", 18: "RENAME", 200: "EXTENDED"}
        server = subprocess.Popen(["/usr/lib/openssh/sftp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        out = threading.Lock()
        muted = set()
        place = None
        written = 0

        def read(stream):
            head = stream.read(4)
            if len(head) < 4:
                return None
            body = stream.read(struct.unpack(">I", head)[0])
            return body

        def write(stream, body):
            stream.write(struct.pack(">I", len(body)) + body)
            stream.flush()

        def down():
            while True:
                body = read(server.stdout)
                if body is None:
                    os.kill(os.getppid(), 9)
                identity = body[1:5]
                with out:
                    if identity in muted:
                        action = muted_actions.pop(identity)
                        muted.discard(identity)
                        if action is None:
                            os.kill(os.getppid(), 9)
                        write(sys.stdout.buffer, action)
                    else:
                        write(sys.stdout.buffer, body)

        muted_actions = {}

        def status(identity, code):
            text = b"not now"
            return b"\\x65" + identity + struct.pack(">I", code) + struct.pack(">I", len(text)) + text + b"\\0\\0\\0\\0"

        def faults():
            try:
                with open(place + "/fault.json") as file:
                    return json.load(file)
            except (OSError, ValueError, TypeError):
                return []

        def due(op, size):
            list = faults()
            for fault in list:
                if fault["op"] != op or fault["times"] == 0:
                    continue
                if op == "WRITE" and written + size <= fault["after"]:
                    continue
                if fault["times"] > 0:
                    fault["times"] -= 1
                    with open(place + "/fault.json.new", "w") as file:
                        json.dump(list, file)
                    os.rename(place + "/fault.json.new", place + "/fault.json")
                return fault
            return None

        threading.Thread(target=down, daemon=True).start()
        while True:
            body = read(sys.stdin.buffer)
            if body is None:
                break
            kind, identity = body[0], body[1:5]
            op = OPS.get(kind)
            if op in ("OPEN", "STAT", "LSTAT", "REMOVE", "MKDIR", "RENAME"):
                path = body[9:9 + struct.unpack(">I", body[5:9])[0]].decode()
                if path.startswith("/"):
                    place = os.path.dirname(path)
            if op == "OPEN":
                written = 0
            size = 0
            if op == "WRITE":
                handle = struct.unpack(">I", body[5:9])[0]
                size = len(body) - 9 - handle - 12
            fault = due(op, size) if op and place else None
            if fault is None:
                written += size
                write(server.stdin, body)
                continue
            if fault.get("mute"):
                continue
            answer = status(identity, fault["reply"]) if "reply" in fault else None
            if op == "WRITE" and fault["after"] > written:
                # As much of it as comes before the fault.
                rest = fault["after"] - written
                data = body[:9 + handle + 8] + struct.pack(">I", rest) + body[9 + handle + 12:9 + handle + 12 + rest]
                written += rest
                with out:
                    muted.add(identity)
                    muted_actions[identity] = answer
                write(server.stdin, data)
            elif fault.get("late"):
                with out:
                    muted.add(identity)
                    muted_actions[identity] = answer
                write(server.stdin, body)
            elif answer is None:
                server.stdin.close()
                server.wait()
                os.kill(os.getppid(), 9)
            else:
                with out:
                    write(sys.stdout.buffer, answer)
        server.stdin.close()
        server.wait()
        """
}
