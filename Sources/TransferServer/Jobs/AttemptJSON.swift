import TransferCore
import TransferQueue

/// The JSON form of attempts in responses.
enum AttemptJSON {
    static func write(_ writer: inout JSONWriter, _ attempt: AttemptLog.Attempt, isOwner: Bool) {
        writer.member("attempt", attempt.number)
        writer.member("result", attempt.result.rawValue)
        writer.member("started", time: attempt.started)
        writer.member("ended", time: attempt.ended)
        writer.member("url", attempt.url.map { JobJSON.shown($0, isOwner) })
        writer.member("offset", attempt.offset)
        writer.member("bytes", attempt.bytes)
        writer.member("status", attempt.error?.status)
        writer.member("code", attempt.error?.code.rawValue)
        writer.member("message", attempt.error?.message)
        writer.member("reason", attempt.reason)
        writer.member("delay", attempt.delay)
    }
}
