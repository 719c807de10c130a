internal import Foundation
internal import Glibc
internal import Synchronization

/// A relay that counts round trips: new connections, and each time that bytes of the server follow bytes of the client.
///
/// The relay does not parse its bytes. It holds the server's bytes until the client has sent nothing for a moment,
/// because a client's further bytes belong to the former turn. A client that pauses longer is counted too often, never
/// too seldom, so the smallest of several counts is correct.
public final class TurnRelay: Sendable {
    public struct Counts: Sendable {
        public var connections = 0
        public var turns = 0
        public var roundTrips: Int { connections + turns }
    }

    private final class State: Sendable {
        let counts = Mutex(Counts())
    }

    /// The holding time in milliseconds.
    private static let hold: Int32 = 40

    private let listener: Int32
    private let state = State()
    public let port: UInt16

    /// - Parameter target: The port of the server on 127.0.0.1.
    public init(to target: UInt16) throws {
        (listener, port) = try LoopbackPort.listening()
        let (listener, state) = (listener, state)
        Thread.detachNewThread {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                state.counts.withLock { $0.connections += 1 }
                Thread.detachNewThread {
                    Self.relay(client, target, state)
                    close(client)
                }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RD)) }

    public var counts: Counts { state.counts.withLock { $0 } }

    private static func relay(_ client: Int32, _ target: UInt16, _ state: State) {
        guard let server = try? LoopbackPort.connected(target) else { return }
        defer { close(server) }
        var hasAsked = false
        while true {
            var ends = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&ends, 2, -1) > 0 else { return }
            while ends[0].revents != 0 {
                guard let bytes = RelaySocket.read(client), RelaySocket.write(server, bytes) else { return }
                hasAsked = true
                guard poll(&ends, 1, hold) >= 0 else { return }
            }
            guard poll(&ends, 2, 0) >= 0 else { return }
            if ends[0].revents == 0, ends[1].revents != 0 {
                guard let bytes = RelaySocket.read(server), RelaySocket.write(client, bytes) else { return }
                if hasAsked { state.counts.withLock { $0.turns += 1 } }
                hasAsked = false
            }
        }
    }
}
