import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

/// A download that may get several connections: the exchange that began it, which writes from its first missing byte on, and
/// others that fetch parts of what is left.
final class SegmentedJob {
    /// `single` → (`preparing` →) `open`; a file that is continued with holes is `open` from the start.
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
        /// When it last brought something, and where it was then.
        var lastMoved: MonotonicTime
        var position: Int64
        /// It isn't wanted any more, or hasn't moved for too long.
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
    /// By the numbers of their claims.
    var connections: [Int: Connection] = [:]
    /// What the exchange that began the file came to; `nil` while it's under way.
    var lead: ExchangeOutcome?
    /// Bytes that ended connections brought.
    var received: Int64 = 0
    /// The measures by which a further connection of the file is judged.
    var way = RangeMap.Way()
    /// Why a connection ended last without all of its part.
    var fault: TransferError?
    /// Whether the server gives parts, of which the version would be known.
    var isDivisible = true

    /// What ended connections to other sources than the first brought, by the sources.
    var shares: [Int: ByteRanges] = [:]
    /// The position and the time at which the exchange that began the file got its answer.
    var leadBegan: (position: Int64, time: MonotonicTime)?
    /// Where the exchange that began the file is, and since when.
    var leadMoved: (position: Int64, time: MonotonicTime)?

    /// A URL that parts may come from.
    struct Place {
        let url: String
        /// As the scheduler names it.
        let origin: String
    }

    /// - Parameters:
    ///   - places: The one that the file was begun with comes first.
    ///   - hasFailed: Whether an earlier attempt got nothing from that one.
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

    /// Those that are under way, the first one included.
    var count: Int { connections.count + (lead == nil ? 1 : 0) }

    /// - Parameter path: The kernel's facts since the last look. A queue that was seen counts for some looks more, as the
    ///   kernel measures it seldom.
    func measureWay(_ path: PathReading, now: MonotonicTime) {
        way.roundTrip = max(path.roundTrip + path.delay, way.roundTrip * 0.95)
        way.rate = growth.best
        guard let own = leadRate(now: now), own > 0, let map = file.map else { return }
        let share = own / max(own, rates(map, now: now).values.reduce(0, +))
        file.onTheWayToLead(Int64(share * max(own, way.rate) * way.roundTrip))
    }

    /// Those that have brought something, the first one included.
    var workingCount: Int {
        let others = connections.count { number, connection in
            (file.map?.claims[number]?.position ?? connection.start) > connection.start
        }
        return others + (lead == nil ? 1 : 0)
    }

    /// Who brought what; `nil` where all of it came from one source.
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

    /// Bytes a second of the exchange that began the file; `nil` once it's over, or before it can be told.
    func leadRate(now: MonotonicTime) -> Double? {
        guard lead == nil, let began = leadBegan, let number = file.lead, let claim = file.map?.claims[number],
            now - began.time >= .milliseconds(200)
        else { return nil }
        return Double(claim.position - began.position) / (now - began.time).inSeconds
    }

    /// The rates of the sources are those of their connections, while these are at it.
    func measureSources(now: MonotonicTime) {
        guard let map = file.map else { return }
        // The first connection brings the file also where the server gives no parts: it says nothing of them.
        if let rate = leadRate(now: now) { sources.measured(0, rate, now: now.inSeconds, of: 0) }
        let rates = rates(map, now: now)
        for (number, connection) in connections where now - connection.since >= .milliseconds(200) {
            guard let rate = rates[number], rate > 0, let claim = map.claims[number] else { continue }
            sources.measured(
                connection.source, rate, now: now.inSeconds, of: claim.position - connection.start)
        }
    }

    /// Bytes a second of each connection, by its claim.
    func rates(_ map: RangeMap, now: MonotonicTime) -> [Int: Double] {
        var rates: [Int: Double] = [:]
        if let number = file.lead, let rate = leadRate(now: now) { rates[number] = rate }
        for (number, connection) in connections {
            guard let claim = map.claims[number] else { continue }
            let age = now - connection.since
            let own = Double(claim.position - connection.start) / max(0.05, age.inSeconds)
            // A young one hasn't shown yet what it brings: what its source brings elsewhere is expected of it.
            let expected = age < SegmentedDownloads.proving ? sources[connection.source].rate : nil
            rates[number] = expected.map { max(own, $0) } ?? (own > 0 || age >= SegmentedDownloads.proving ? own : nil)
        }
        return rates
    }
}
