import TransferCore
import TransferQueue

/// The JSON form of batches in responses.
enum BatchJSON {
    /// Writes a batch.
    ///
    /// - Parameter number: The batch's own number.
    static func write(_ writer: inout JSONWriter, _ status: BatchStatus, number: Int64) {
        writer.member("key", JobNumberCode.batch.name(number))
        writer.member("name", status.name)
        writer.member("state", state(status))
        writer.member("source", status.source)
        writer.member("directory", status.directory)
        writer.member("total", status.total)
        writer.member("done", status.done)
        writer.member("failed", status.failed)
        writer.member("skipped", status.skipped)
        writer.member("cancelled", status.cancelled)
        writer.member("paused", status.paused)
        writer.member("waiting", status.waiting)
        writer.member("remaining", status.remaining)
        if status.pid != nil {
            writer.member("rate", status.rate)
            writer.member("eta", status.eta.map { Int($0.components.seconds) })
            writer.member("pid", status.pid.map(Int.init))
        }
        writer.member("waitingFor", status.waitingFor)
    }

    private static func state(_ status: BatchStatus) -> String {
        if status.folder != nil, status.pid != nil, status.waitingFor == nil { return "watching" }
        if status.remaining == 0 { return "finished" }
        if status.paused == status.remaining { return "paused" }
        if status.pid == nil { return "stopped" }
        return status.waitingFor == nil ? "running" : "offline"
    }
}
