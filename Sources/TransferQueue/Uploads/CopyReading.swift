import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

/// The number of connections over which the source of a copy is read.
final class CopyReading {
    let source: RemoteSource
    /// The origin of the source, as the scheduler names it.
    let origin: String
    /// The most connections.
    private let most: Int
    private var growth = ConnectionGrowth(.automatic)
    /// The number of connections beyond the first, as the scheduler counts them beside the jobs.
    var extra = 0

    /// Creates the state of a copy.
    ///
    /// - Returns: `nil` where the source is read over one connection.
    init?(_ source: RemoteSource, _ from: CopySource, isBoundToLink: Bool) {
        let download = from.download
        // A connection that is abandoned on a required link lets the kernel answer over any link.
        guard source.size >= RemoteSource.smallestShared, (download.method ?? "GET") == "GET", download.body == nil
        else { return nil }
        switch download.connections {
        case .automatic: most = isBoundToLink ? 1 : RemoteSource.mostConnections
        case .exactly(let count): most = min(count, RemoteSource.mostConnections)
        }
        guard most > 1 else { return nil }
        self.source = source
        origin = from.job.origin(mirror: 0)
    }

    /// Measures the source, and chooses the number of its connections.
    ///
    /// - Parameter spare: The number of further connections that the origin may have; negative if jobs wait for places
    ///   that connections of copies occupy.
    /// - Returns: The number of connections.
    func look(now: Double, spare: Int) -> Int {
        let path = source.path.take()
        guard let reading = source.measure(), reading.givesParts else {
            source.spread(over: 1, pace: 0, now: now)
            return 1
        }
        let before = growth.wanted
        // A number above the bound counts as reached, so that its trial ends.
        let connections = reading.connections >= most ? max(before, reading.connections) : reading.connections
        // Further connections only wait if the destination is the limit.
        var wanted = growth.sample(
            now: now, bytes: reading.fetched, left: source.size - reading.fetched, worked: reading.worked,
            connections: connections, path: path, bound: reading.isAwaited ? .infinity : 0)
        if spare < 0, extra > 0 {
            wanted = max(1, 1 + extra + spare)
            growth.yields(to: wanted)
        }
        wanted = min(wanted, most, 1 + extra + max(0, spare))
        source.spread(over: wanted, pace: growth.best / Double(max(1, reading.connections)), now: now)
        return wanted
    }

    /// Notes that the server wants fewer connections, or that one was lost.
    func lost(_ error: TransferError, status: Int?, _ connections: Int, working: Int) {
        let now = MonotonicTime.now.inSeconds
        if let status, status == 429 || status == 503 {
            growth.refused(
                now: now, connections: connections, working: working, retryAfter: error.retryAfter.map { $0.inSeconds })
        } else if error.code != .networkChanged {
            growth.lost(now: now, connections: connections)
        }
    }
}
