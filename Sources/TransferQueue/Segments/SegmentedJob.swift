import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

/// A download that may get several connections. The exchange that began it writes from its first missing byte on;
/// others fetch parts of the rest.
final class SegmentedJob {
    /// The phase of the download: `single` → (`preparing` →) `open`. A file that is continued with holes is `open` from
    /// the start.
    enum Phase {
        /// One exchange fills the file.
        case single
        /// A worker makes the map.
        case preparing
        /// Parts may be fetched.
        case open
    }

    struct Connection {
        let handle: ExchangeHandle
        let meter: ExchangeMeter
        let source: Int
        let start: Int64
        let since: MonotonicTime
        /// The time when the connection last brought bytes, and its position then.
        var lastMoved: MonotonicTime
        var position: Int64
        /// Whether the connection was ended because it is not needed or has not moved for too long.
        var isStopped = false
    }

    let file: SegmentedFile
    var phase = Phase.single
    var growth: ConnectionGrowth
    /// The kernel's measurements of the connections of the file.
    let path: PathMeter
    var sources: SegmentSources
    /// The origins of the sources, as the scheduler names them.
    let origins: [String]
    /// The connections, by the numbers of their claims.
    var connections: [Int: Connection] = [:]
    /// The outcome of the exchange that began the file; `nil` while it is under way.
    var lead: ExchangeOutcome?
    /// The number of bytes that ended connections brought.
    var received: Int64 = 0
    /// The measures by which a further connection of the file is judged.
    var way = RangeMap.Way()
    /// The reason why a connection last ended before the end of its part.
    var fault: TransferError?
    /// Whether the server gives parts of a recognizable version.
    var isDivisible = true

    /// The ranges that ended connections to sources other than the first brought, by source.
    var shares: [Int: ByteRanges] = [:]
    /// The position and the time at which the exchange that began the file got its answer.
    var leadBegan: (position: Int64, time: MonotonicTime)?
    /// The position of the exchange that began the file, and the time since when it has not moved.
    var leadMoved: (position: Int64, time: MonotonicTime)?

    /// A URL that parts may come from.
    struct Place {
        let url: String
        /// The origin, as the scheduler names it.
        let origin: String
    }

    /// Creates the state of a download.
    ///
    /// - Parameters:
    ///   - places: The sources; the one that the file was begun with comes first.
    ///   - hasFailed: Whether an earlier attempt got no byte from that source.
    init(
        _ file: SegmentedFile, _ request: ConnectionGrowth.Request, _ places: [Place], path: PathMeter,
        hasFailed: Bool = false
    ) {
        self.file = file
        growth = ConnectionGrowth(request)
        self.path = path
        sources = SegmentSources(places.map(\.url), hasFailed: hasFailed)
        origins = places.map(\.origin)
    }

    /// The exchanges besides the one that began the file.
    var handles: [ExchangeHandle] { connections.values.map(\.handle) }

    /// The number of connections under way, including the first.
    var count: Int { connections.count + (lead == nil ? 1 : 0) }

    /// Measures the path by which a further connection is judged.
    ///
    /// - Parameter path: The kernel's data since the last call. An observed queue counts for several further calls,
    ///   because the kernel measures it seldom.
    func measureWay(_ path: PathReading, now: MonotonicTime) {
        way.roundTrip = max(path.roundTrip + path.delay, way.roundTrip * 0.95)
        way.rate = growth.best
        guard let own = leadRate(now: now), own > 0, let map = file.map else { return }
        let share = own / max(own, rates(map, now: now).values.reduce(0, +))
        file.onTheWayToLead(Int64(share * max(own, way.rate) * way.roundTrip))
    }

    /// The number of connections that have brought bytes, including the first.
    var workingCount: Int {
        let others = connections.count { number, connection in
            (file.map?.claims[number]?.position ?? connection.start) > connection.start
        }
        return others + (lead == nil ? 1 : 0)
    }

    /// Returns the shares of the sources; `nil` if only one source brought the file.
    func mix(_ total: Int64) -> MixedFile? {
        guard !shares.isEmpty else { return nil }
        var own = ByteRanges(0..<total)
        for ranges in shares.values { for range in ranges.ranges { own.remove(range) } }
        var all = [MixedFile.Share(url: sources[0].url, validator: sources[0].validator, ranges: own)]
        for (index, ranges) in shares.sorted(by: { $0.key < $1.key }) {
            all.append(MixedFile.Share(url: sources[index].url, validator: sources[index].validator, ranges: ranges))
        }
        return MixedFile(total: total, shares: all)
    }

    /// Returns the rate, in bytes per second, of the exchange that began the file; `nil` once it has ended or before it
    /// can be measured.
    func leadRate(now: MonotonicTime) -> Double? {
        guard lead == nil, let began = leadBegan, let number = file.lead, let claim = file.map?.claims[number],
            now - began.time >= .milliseconds(200)
        else { return nil }
        return Double(claim.position - began.position) / (now - began.time).inSeconds
    }

    /// Measures the sources by the rates of their connections under way.
    func measureSources(now: MonotonicTime) {
        guard let map = file.map else { return }
        // The first connection brings bytes even if the server gives no parts, so it proves nothing about parts.
        if let rate = leadRate(now: now) { sources.measured(0, rate, now: now.inSeconds, of: 0) }
        let rates = rates(map, now: now)
        for (number, connection) in connections where now - connection.since >= .milliseconds(200) {
            guard let rate = rates[number], rate > 0, let claim = map.claims[number] else { continue }
            sources.measured(
                connection.source, rate, now: now.inSeconds, of: claim.position - connection.start)
        }
    }

    /// Returns the rate of each connection in bytes per second, by its claim.
    func rates(_ map: RangeMap, now: MonotonicTime) -> [Int: Double] {
        var rates: [Int: Double] = [:]
        if let number = file.lead, let rate = leadRate(now: now) { rates[number] = rate }
        for (number, connection) in connections {
            guard let claim = map.claims[number] else { continue }
            let age = now - connection.since
            let own = Double(claim.position - connection.start) / max(0.05, age.inSeconds)
            // A young connection has not shown its rate yet, so the known rate of its source is expected of it.
            let expected = age < SegmentedDownloads.proving ? sources[connection.source].rate : nil
            rates[number] = expected.map { max(own, $0) } ?? (own > 0 || age >= SegmentedDownloads.proving ? own : nil)
        }
        return rates
    }
}
