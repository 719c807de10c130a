internal import Foundation
internal import Glibc
internal import Synchronization

/// A relay to a PostgreSQL server that loses the end of a transaction, with the connection, on demand.
public final class LosingRelay: Sendable {
    public enum Loss: Sendable {
        /// The COMMIT does not reach the server.
        case request
        /// The server commits, and the answer is lost.
        case answer
    }

    private final class State: Sendable {
        let loss = Mutex<Loss?>(nil)
        let isOpen = Mutex(true)
        /// Whether the relay accepts no more connections after a loss.
        let endsThen = Mutex(false)
        let reported = AsyncStream<Void>.makeStream()
        let turns = Mutex(0)

        /// Returns the pending loss, once.
        func take() -> Loss? {
            let taken = loss.withLock { loss in
                defer { loss = nil }
                return loss
            }
            if taken != nil {
                if endsThen.withLock({ $0 }) { isOpen.withLock { $0 = false } }
                reported.continuation.yield()
            }
            return taken
        }
    }

    private let listener: Int32
    public let port: UInt16
    private let state = State()

    public init(to server: PostgresServer) throws {
        (listener, port) = try LoopbackPort.listening()
        let (listener, state, socket) = (listener, state, server.socket)
        Thread.detachNewThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                guard state.isOpen.withLock({ $0 }) else {
                    close(client)
                    continue
                }
                Thread.detachNewThread { Self.relay(client, socket, state) }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RD)) }

    /// Returns the address of a queue through the relay, for a login.
    public func url(queue: String, login: String) -> String {
        "postgres://\(login)@127.0.0.1:\(port)/postgres?queue=\(queue)&sslmode=disable"
    }

    /// Loses the next COMMIT, or its answer.
    public func loseNextCommit(_ loss: Loss) { state.loss.withLock { $0 = loss } }

    /// Whether the requested loss has happened.
    public var hasLost: Bool { state.loss.withLock { $0 == nil } }

    /// Loses the next COMMIT, or its answer, and takes no more connections from then on.
    public func shut(after loss: Loss) {
        state.endsThen.withLock { $0 = true }
        loseNextCommit(loss)
    }

    /// The number of round trips so far: questions that came after an answer.
    public var turns: Int { state.turns.withLock { $0 } }

    /// Waits until the loss has happened.
    public func lost() async throws {
        var losses = state.reported.stream.makeAsyncIterator()
        guard await losses.next() != nil else { throw CancellationError() }
    }

    /// Accepts no more connections, like a server that is down.
    public func shut() { state.isOpen.withLock { $0 = false } }

    /// A detector of the end of a transaction in a client's bytes. COMMIT is prepared once, and named from then on
    /// (PostgreSQL's manual, "Message Formats", Parse and Bind).
    private struct Commit {
        private static let text = Data([0] + "COMMIT".utf8 + [0])
        private var name: Data?

        mutating func isIn(_ bytes: Data) -> Bool {
            if let text = bytes.range(of: Self.text) {
                let before = bytes[..<text.lowerBound]
                // The name follows a length of four bytes, of which the first is 0.
                name = before.lastIndex(of: 0).map { Data([0] + before[before.index($0, offsetBy: 2)...] + [0]) }
            }
            return name.map { bytes.range(of: $0) != nil } ?? false
        }
    }

    private static func relay(_ client: Int32, _ path: String, _ state: State) {
        defer { close(client) }
        guard let server = UnixSocket.connected(path) else { return }
        defer { close(server) }
        var (commit, wasAnswered) = (Commit(), true)
        while true {
            var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&ends, 2, -1) > 0 else { return }
            if ends[0].revents != 0 {
                guard let bytes = RelaySocket.read(client) else { return }
                if wasAnswered { state.turns.withLock { $0 += 1 } }
                wasAnswered = false
                let loss = commit.isIn(Data(bytes)) ? state.take() : nil
                guard loss != .request, RelaySocket.write(server, bytes) else { return }
                if loss == .answer {
                    // The server answers after it has committed.
                    _ = RelaySocket.read(server)
                    return
                }
            }
            if ends[1].revents != 0 {
                guard let bytes = RelaySocket.read(server), RelaySocket.write(client, bytes) else { return }
                wasAnswered = true
            }
        }
    }
}
