import TransferCore
import TransferJobs

/// An account of the URLs of one download, over all its attempts in this process: what each sent, over how many
/// connections, and why one isn't asked any more. Pure, no I/O; the runner's own.
///
/// Times are seconds on any steady clock.
final class SourceStatistics {
    private struct Entry {
        let url: String
        /// What connections that have ended sent.
        var bytes: Int64 = 0
        var connections = 0
        var most = 0
        /// Seconds with a connection, and since when it has one.
        var busy = 0.0
        var since = 0.0
        var state = JobSource.State.used
        var fault: JobSource.Fault?
        /// When a paused one may be asked again.
        var until: Double?
        /// Whether its state is another one than was told.
        var isNews = false
        /// Bytes and rate as they were measured last.
        var measured: (bytes: Int64, rate: Double) = (0, 0)
    }

    private var entries: [Entry] = []
    private var measuredAt: Double?
    /// The sources that the present attempt has asked.
    private var asked: Set<String> = []

    /// The time over which a rate is measured, at least.
    static let interval = 0.4
    /// Sources that are told of, at most: a list of mirrors may be long.
    static let mostReported = 32

    var isEmpty: Bool { entries.isEmpty }
    var hasNews: Bool { entries.contains { $0.isNews } }
    /// Whether it's told also where there is nothing more to say than where a copy comes from.
    var isOfCopy = false
    /// Whether the present attempt has asked no second source.
    var isOfOne: Bool { asked.count <= 1 }

    private func index(of url: String) -> Int {
        if let known = entries.firstIndex(where: { $0.url == url }) { return known }
        entries.append(Entry(url: url))
        return entries.count - 1
    }

    // MARK: What happens

    /// Another attempt begins.
    func begin() { asked = [] }

    func isOpen(_ url: String) -> Bool { entries.contains { $0.url == url && $0.connections > 0 } }

    /// A connection to a source has been asked for.
    func opened(_ url: String, now: Double) {
        let index = index(of: url)
        asked.insert(url)
        if entries[index].connections == 0 { entries[index].since = now }
        entries[index].connections += 1
        entries[index].most = max(entries[index].most, entries[index].connections)
        guard entries[index].state != .used else { return }
        (entries[index].state, entries[index].fault, entries[index].until) = (.used, nil, nil)
        entries[index].isNews = true
    }

    /// A connection has ended.
    ///
    /// - Parameter bytes: What it sent.
    func closed(_ url: String, bytes: Int64, now: Double) {
        let index = index(of: url)
        entries[index].bytes += bytes
        guard entries[index].connections > 0 else { return }
        entries[index].connections -= 1
        if entries[index].connections == 0 { entries[index].busy += max(0, now - entries[index].since) }
    }

    /// - Parameter until: When it may be asked again, where that's known.
    func paused(_ url: String, _ fault: JobSource.Fault, until: Double? = nil) {
        let index = index(of: url)
        guard entries[index].state != .dropped else { return }
        let isNews = entries[index].state != .paused || entries[index].fault?.cause != fault.cause
        (entries[index].state, entries[index].fault, entries[index].until) = (.paused, fault, until)
        if isNews { entries[index].isNews = true }
    }

    func dropped(_ url: String, _ fault: JobSource.Fault) {
        let index = index(of: url)
        guard entries[index].state != .dropped else { return }
        (entries[index].state, entries[index].fault, entries[index].until) = (.dropped, fault, nil)
        entries[index].isNews = true
    }

    // MARK: What is told

    /// The sources whose state has changed since this was asked last.
    func takeNews(now: Double) -> [JobSource] {
        let news = entries.filter(\.isNews).map { reported($0, bytes: $0.bytes, now: now) }
        for index in entries.indices { entries[index].isNews = false }
        return news
    }

    /// Looks at what has come, for rates; more often than ``interval`` it does nothing.
    ///
    /// - Parameter underWay: What connections that haven't ended sent, by their URLs.
    func measure(_ underWay: [String: Int64], now: Double) {
        guard let last = measuredAt else {
            measuredAt = now
            for index in entries.indices { entries[index].measured.bytes = total(entries[index], underWay) }
            return
        }
        guard now - last >= Self.interval else { return }
        measuredAt = now
        for index in entries.indices {
            let bytes = total(entries[index], underWay)
            let rate = max(0, Double(bytes - entries[index].measured.bytes) / (now - last))
            let earlier = entries[index].measured.rate
            entries[index].measured = (bytes, earlier == 0 ? rate : (earlier * 2 + rate) / 3)
        }
    }

    /// How it stands; empty where there is one source with one connection, and nothing against it.
    func current(_ underWay: [String: Int64], now: Double) -> [JobSource] {
        guard isWorthTelling else { return [] }
        return entries.prefix(Self.mostReported).map { reported($0, bytes: total($0, underWay), now: now) }
    }

    /// How it stood at the end: what was paused was never asked again.
    func atEnd(now: Double) -> [JobSource] {
        guard isWorthTelling else { return [] }
        return entries.prefix(Self.mostReported).map { entry in
            var source = reported(entry, bytes: entry.bytes, now: now)
            source.connections = entry.most
            source.rate = mean(entry, bytes: entry.bytes, now: now)
            if source.state == .paused { source.state = .dropped }
            source.again = nil
            return source
        }
    }

    private var isWorthTelling: Bool {
        isOfCopy || entries.count > 1 || entries.contains { $0.most > 1 || $0.fault != nil }
    }

    private func total(_ entry: Entry, _ underWay: [String: Int64]) -> Int64 {
        entry.bytes + underWay[entry.url, default: 0]
    }

    private func mean(_ entry: Entry, bytes: Int64, now: Double) -> Int64? {
        let busy = entry.busy + (entry.connections > 0 ? now - entry.since : 0)
        return bytes > 0 ? Int64(min(9e18, Double(bytes) / max(0.001, busy))) : nil
    }

    private func reported(_ entry: Entry, bytes: Int64, now: Double) -> JobSource {
        let isMeasured = entry.connections > 0 && entry.measured.rate > 0
        return JobSource(
            url: Redaction.url(entry.url), connections: entry.connections, bytes: bytes,
            rate: isMeasured ? Int64(min(9e18, entry.measured.rate)) : mean(entry, bytes: bytes, now: now),
            state: entry.state, fault: entry.fault,
            again: entry.until.map { .milliseconds(Int64(max(0, $0 - now) * 1000)) })
    }
}
