import TransferCore
import TransferQueue

/// Where a download comes from, in words.
enum SourceText {
    /// The hosts that bring a file, with how many connections: `a.example x4, b.example x2`, in at most `width` columns.
    ///
    /// What doesn't fit becomes a number: `a.example x4 +1`, `2 hosts x6`, `x6`.
    ///
    /// - Parameter isCopy: The host is named where it's one with one connection, too: `from a.example`.
    /// - Returns: Nothing where one connection brings a file here.
    static func row(_ sources: [JobSource], isCopy: Bool = false, width: Int, charset: Charset) -> String {
        let hosts = hosts(sources)
        let count = hosts.reduce(0) { $0 + $1.connections }
        if isCopy, count == 1 {
            let room = width == .max ? .max : width - 5
            return room >= leastHost ? "from \(charset.name(hosts[0].name, width: room))" : ""
        }
        guard count > 1 else { return "" }
        for shown in stride(from: hosts.count, to: 0, by: -1) {
            let list = hosts.prefix(shown).map { "\(charset.visible($0.name)) x\($0.connections)" }
            let rest = hosts.count - shown
            let text = list.joined(separator: ", ") + (rest > 0 ? " +\(rest)" : "")
            if DisplayWidth.of(text) <= width { return text }
        }
        let total = " x\(count)"
        if hosts.count == 1 {
            // A host is known by its end: `…n.example x4`.
            let room = width - total.count
            if room >= leastHost { return charset.name(hosts[0].name, width: room) + total }
        } else if case let text = "\(NumberText.count(hosts.count, "host"))\(total)", text.count <= width {
            return text
        }
        return total.count - 1 <= width ? String(total.dropFirst()) : ""
    }

    /// The end of a job's row: the worker that has it, and the hosts that bring its file.
    static func row(of progress: JobProgress?, width: Int, charset: Charset) -> String {
        guard let progress else { return "" }
        let isCopy = progress.isCopy
        guard let worker = progress.worker else {
            return row(progress.sources, isCopy: isCopy, width: width, charset: charset)
        }
        let name = charset.name(worker, width: width)
        let used = DisplayWidth.of(name) + 2
        let hosts = row(
            progress.sources, isCopy: isCopy, width: width == .max ? .max : max(0, width - used), charset: charset)
        return hosts.isEmpty ? name : "\(name): \(hosts)"
    }

    /// The columns below which what is left of a host tells nothing.
    private static let leastHost = 8

    /// Those that bring something, the ones with the most connections first; sources on one host are one.
    private static func hosts(_ sources: [JobSource]) -> [(name: String, connections: Int)] {
        var hosts: [(name: String, connections: Int)] = []
        for source in sources where source.connections > 0 {
            let name = host(source.url)
            if let index = hosts.firstIndex(where: { $0.name == name }) {
                hosts[index].connections += source.connections
            } else {
                hosts.append((name, source.connections))
            }
        }
        // Stable: those of equally many stay as the job has them.
        return hosts.enumerated().sorted {
            ($1.element.connections, $0.offset) < ($0.element.connections, $1.offset)
        }.map(\.element)
    }

    private static func host(_ url: String) -> String { Origin(anyURL: url)?.hostAndPort ?? url }

    /// `b.example dropped: 404 Not Found`
    static func change(_ source: JobSource) -> String {
        let host = host(source.url)
        guard source.state != .used else { return "\(host) is asked again" }
        return "\(host) \(state(source))"
    }

    /// `dropped: 404 Not Found`, `paused, asked again in 0:04: Connection refused`
    private static func state(_ source: JobSource) -> String {
        let reason = source.fault.map { ": \($0.message)" } ?? ""
        switch source.state {
        case .used: return ""
        case .unasked: return "not asked so far"
        case .dropped: return "dropped\(reason)"
        case .paused:
            let again = source.again.map { ", asked again in \(NumberText.countdown(milliseconds: $0.inMilliseconds))" }
            return "paused\(again ?? "")\(reason)"
        }
    }

    // MARK: `transfer why`

    /// A line for each source, in columns: `a.example   x4   812 MiB   38.4 MiB/s`, and what is the matter with it.
    static func lines(_ sources: [JobSource]) -> [String] {
        let names = names(sources.map(\.url))
        // One that brought nothing and isn't asked any more has no connection worth a number.
        let connections = sources.map { source in
            source.connections > 0 && (source.bytes > 0 || source.state == .used) ? "x\(source.connections)" : ""
        }
        let bytes = sources.map { $0.bytes > 0 ? ByteCount.format($0.bytes) : "" }
        let rates = sources.map { source in source.rate.map { NumberText.rate($0) } ?? "" }
        func width(_ texts: [String]) -> Int { texts.map { DisplayWidth.of($0) }.max() ?? 0 }
        let nameWidth = width(names)
        return sources.indices.map { index in
            let columns = [(connections, false), (bytes, true), (rates, true)].filter { width($0.0) > 0 }.map {
                texts, isNumber in
                isNumber ? texts[index].rightAligned(width(texts)) : texts[index].padded(width(texts))
            }
            return ([names[index].padded(nameWidth)] + columns + [state(sources[index])]).joined(separator: "  ")
        }
    }

    /// Hosts, or URLs where a host has several of them.
    private static func names(_ urls: [String]) -> [String] {
        let hosts = urls.map { host($0) }
        let counts = hosts.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        return zip(urls, hosts).map { counts[$1] == 1 ? $1 : $0 }
    }
}
