import Synchronization
import TransferQueue

/// Beginnings and ends of downloads for the clients that are connected by WebSocket.
final class AriaNotifications: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
        var last = 0
    }

    private let state = Mutex(State())
    private let found: AsyncStream<Event>.Continuation
    private let events: AsyncStream<Event>

    /// Something that happened to a job, before its gid is known.
    private struct Event: Sendable {
        let notification: AriaNotification
        let batch: String
        let job: String
    }

    /// Notifications that wait for one client; of a slower one the oldest are lost.
    private static let kept = 1024

    init() { (events, found) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.kept)) }

    func hear(_ event: QueueEvent) {
        guard state.withLock({ !$0.listeners.isEmpty }), let (notification, job) = Self.notification(event.kind) else {
            return
        }
        found.yield(Event(notification: notification, batch: event.batch, job: job))
    }

    private static func notification(_ kind: QueueEvent.Kind) -> (AriaNotification, String)? {
        switch kind {
        case .started(let job, let start): start.isUpload || start.attempt > 1 ? nil : (.start, job)
        case .commanded(.pause, let job?): (.pause, job)
        case .cancelled(let job): (.stop, job)
        case .finished(let receipt): receipt.isUpload ? nil : (.complete, receipt.job)
        case .failed(let failure): (.error, failure.job)
        default: nil
        }
    }

    /// Tells what was heard, until the task is cancelled.
    func run(_ served: ServedQueue) async {
        for await event in events {
            var selection = JobSelection()
            selection.batch = event.batch
            selection.identity = event.job
            let entry = try? await served.look { [selection] in try $0.jobs(selection) }.first
            guard let entry, !entry.isUpload else { continue }
            tell(event.notification, gid: AriaGID.name(entry))
        }
    }

    private func tell(_ notification: AriaNotification, gid: String) {
        let text = CanonicalWriter.bytes { writer in
            writer.member("jsonrpc", "2.0")
            writer.member("method", notification.rawValue)
            writer.member("params", objects: [gid]) { writer, gid in writer.member("gid", gid) }
        }
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(text) }
    }

    /// Notifications from now on, until ``leave(_:)``; `nil` where too many listen already.
    func join() -> (number: Int, notifications: AsyncStream<[UInt8]>)? {
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream(bufferingPolicy: .bufferingNewest(Self.kept))
        return state.withLock { state in
            guard state.listeners.count < Self.mostListeners else { return nil }
            state.last += 1
            state.listeners[state.last] = continuation
            return (state.last, stream)
        }
    }

    /// A conversation costs a connection for as long as its client wants it.
    private static let mostListeners = 64

    func leave(_ number: Int) { state.withLock { $0.listeners.removeValue(forKey: number) }?.finish() }
}
