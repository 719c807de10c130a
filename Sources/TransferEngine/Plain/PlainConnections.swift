import TransferCore
import TransferEventLoop

/// The connections of a pool that wait for another request, and what all of them use.
final class PlainConnections {
    /// What is read at once: answers to uploads are short.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
    var maker = PlainRequestMaker()
    private var idle: [[UInt8]: [PlainConnection]] = [:]
    private var count = 0

    /// libcurl's default (CURLOPT_MAXAGE_CONN(3)): what waited longer has mostly been closed by the server.
    static let ageLimit = Duration.seconds(118)
    /// Connections; as many as the pool's multi may keep beside them (CURLMOPT_MAXCONNECTS).
    private static let limit = 256

    deinit { buffer.deallocate() }

    /// The one that was used last; those that have waited too long are given up.
    ///
    /// - Parameter end: Closes one.
    func take(_ place: [UInt8], now: MonotonicTime = .now, end: (PlainConnection) -> Void) -> PlainConnection? {
        guard let found = idle[place]?.popLast() else { return nil }
        count -= 1
        guard now - found.usedLast > Self.ageLimit else { return found }
        // The others have waited longer still.
        end(found)
        let others = idle.removeValue(forKey: place) ?? []
        count -= others.count
        for other in others { end(other) }
        return nil
    }

    /// Where there are too many, the one that has waited longest makes room.
    ///
    /// - Parameter end: Closes one.
    func keep(_ connection: PlainConnection, end: (PlainConnection) -> Void) {
        if count >= Self.limit, let oldest = idle.values.compactMap(\.first).min(by: { $0.usedLast < $1.usedLast }) {
            remove(oldest)
            end(oldest)
        }
        count += 1
        // A place keeps its empty list for the next connection, but not for ever.
        if idle.count > 4 * Self.limit { idle = idle.filter { !$0.value.isEmpty } }
        idle[connection.place, default: []].append(connection)
    }

    /// The server has closed it, or has said something that nobody asked for.
    func remove(_ connection: PlainConnection) {
        guard let index = idle[connection.place]?.firstIndex(where: { $0 === connection }) else { return }
        idle[connection.place]?.remove(at: index)
        if idle[connection.place]?.isEmpty == true { idle[connection.place] = nil }
        count -= 1
    }

    func removeAll(end: (PlainConnection) -> Void) {
        for connections in idle.values { for connection in connections { end(connection) } }
        idle = [:]
        count = 0
    }
}
