import TransferQueue

/// What a job or a batch waits for, with the words of the command's events.
enum WaitJSON {
    static func write(_ writer: inout CanonicalWriter, _ reason: WaitReason) {
        switch reason {
        case .host(let origin, let status, let message, let remaining, _):
            writer.member("for", "host")
            writer.member("origin", origin)
            writer.member("status", status)
            writer.member("reason", message)
            writer.member("delay", remaining)
        case .retry(let remaining):
            writer.member("for", "retry")
            writer.member("delay", remaining)
        case .dependency(let need):
            writer.member("for", "dependency")
            writer.member("need", need)
        case .slot: writer.member("for", "slot")
        case .paused: writer.member("for", "paused")
        case .schedule(let text): write(&writer, "schedule", text)
        case .clock(let text): write(&writer, "clock", text)
        case .openFiles(let text): write(&writer, "openFiles", text)
        case .network(let text): write(&writer, "network", text)
        case .disk(let text, let remaining):
            write(&writer, "disk", text)
            writer.member("delay", remaining)
        }
    }

    private static func write(_ writer: inout CanonicalWriter, _ name: String, _ reason: String) {
        writer.member("for", name)
        writer.member("reason", reason)
    }
}
