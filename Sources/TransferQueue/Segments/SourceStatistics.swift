import TransferCore
import TransferJobs

/// A record of the URLs of one download, over all its attempts in this process: the bytes of each, its connections, and
/// why it is no longer asked. Pure, without I/O; only the runner uses it.
///
/// Times are seconds on any steady clock.
final class SourceStatistics {
    private struct Entry {
        let url: String
        /// The number of bytes that ended connections sent.
        var bytes: Int64 = 0
        var connections = 0
        var most = 0
        /// The seconds with a connection, and the time since when there is one.
        var busy = 0.0
        var since = 0.0
        var state = JobSource.State.used
        var fault: JobSource.Fault?
        /// The time when a paused source may be asked again.
        var until: Double?
        /// Whether its state has changed since the last report.
        var isNews = false
        /// The bytes and the rate, as last measured.
        var measured: (bytes: Int64, rate: Double) = (0, 0)
    }

    private var entries: [Entry] = []
    private var measuredAt: Double?
    /// The sources that the present attempt has asked.
    private var asked: Set<String> = []

    /// The shortest time over which a rate is measured, in seconds.
    static let interval = 0.4
    /// The most sources in a report, because a list of mirrors may be long.
    static let mostReported = 32

    var isEmpty: Bool { entries.isEmpty }
    var hasNews: Bool { entries.contains { $0.isNews } }
    /// Whether the download belongs to a copy, whose source is always reported.
    var isOfCopy = false
    /// Whether the present attempt has asked no second source.
    var isOfOne: Bool { asked.count <= 1 }

    private func index(of url: String) -> Int {
        if let known = entries.firstIndex(where: { $0.url == url }) { return known }
        entries.append(Entry(url: url))
        return entries.count - 1
    }

    // MARK: Observations

    /// Notes that another attempt begins.
    func begin() { asked = [] }

    func isOpen(_ url: String) -> Bool { entries.contains { $0.url == url && $0.connections > 0 } }

    /// Notes that a connection to a source has been requested.
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

    /// Notes that a connection has ended.
    ///
    /// - Parameter bytes: The number of bytes that it sent.
    func closed(_ url: String, bytes: Int64, now: Double) {
        let index = index(of: url)
        entries[index].bytes += bytes
        guard entries[index].connections > 0 else { return }
        entries[index].connections -= 1
        if entries[index].connections == 0 { entries[index].busy += max(0, now - entries[index].since) }
    }

    /// Notes that a source is not asked for a while.
    ///
    /// - Parameter until: The time when it may be asked again, if it is known.
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

    // MARK: Reports

    /// Returns the sources whose state has changed since the last call.
    func takeNews(now: Double) -> [JobSource] {
        let news = entries.filter(\.isNews).map { reported($0, bytes: $0.bytes, now: now) }
        for index in entries.indices { entries[index].isNews = false }
        return news
    }

    /// Measures the rates; calls more frequent than ``interval`` are ignored.
    ///
    /// - Parameter underWay: The bytes that open connections have sent, by their URLs.
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

    /// Returns the present state; empty for one source with one connection and no fault.
    func current(_ underWay: [String: Int64], now: Double) -> [JobSource] {
        guard isWorthTelling else { return [] }
        return entries.prefix(Self.mostReported).map { reported($0, bytes: total($0, underWay), now: now) }
    }

    /// Returns the state at the end, in which paused sources count as dropped.
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
