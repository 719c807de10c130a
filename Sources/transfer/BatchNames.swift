import Glibc
import TransferCore

/// Batches as people name them. The batch of a job file without a name is known by that file's path; it's shown, and
/// found, by as much of the path's end as tells it from the others. One of `transfer get` or `put` is called after its
/// first server.
struct BatchNames: Sendable {
    private let names: Set<String>
    /// The batches that each short form may mean.
    private var meanings: [String: [String]] = [:]

    /// - Parameter names: Those in the queue.
    init(_ names: some Sequence<String>) {
        self.names = Set(names)
        for name in self.names {
            for form in Self.forms(name) { meanings[form, default: []].append(name) }
        }
    }

    /// The batch's short name, for people.
    func short(_ name: String) -> String {
        guard Self.isLong(name) else { return name }
        return Self.forms(name).first { form in
            !names.contains(form) && meanings[form] == [name] && !isJob(form)
        } ?? name
    }

    /// Whether it has a shorter form than its own.
    static func isLong(_ name: String) -> Bool { name.hasPrefix("/") || OneOffName(name) != nil }

    /// A name that may have been meant.
    func nearest(_ text: String) -> String? {
        NearestKey.suggestion(for: text, among: names.map(short).sorted())
    }

    /// `etc/mirror` is a job of the batch `etc`, where there is that.
    private func isJob(_ form: String) -> Bool { names.contains { form.hasPrefix($0 + "/") } }

    /// The batch that is meant; `nil` where there is none.
    ///
    /// - Throws: `Failure` for what may mean several.
    func find(_ text: String) throws(Failure) -> String? {
        if names.contains(text) { return text }
        if let found = meanings[text], !isJob(text) {
            guard found.count == 1 else {
                let all = found.map { short($0) }.sorted().joined(separator: ", ")
                throw Failure(.wrongUsage, "\"\(text)\" may be several batches: \(all)")
            }
            return found[0]
        }
        guard let path = realpath(text, nil) else { return nil }
        defer { free(path) }
        let file = String(cString: path)
        return names.contains(file) ? file : nil
    }

    /// Takes `BATCH/JOB` apart. Both may have slashes: the longest batch counts.
    func split(_ text: String) throws(Failure) -> (batch: String, job: String?) {
        if let batch = try find(text) { return (batch, nil) }
        for slash in text.indices.reversed() where text[slash] == "/" && slash > text.startIndex {
            guard let batch = try find(String(text[..<slash])) else { continue }
            return (batch, String(text[text.index(after: slash)...]))
        }
        guard let slash = text.firstIndex(of: "/"), slash > text.startIndex else { return (text, nil) }
        return (String(text[..<slash]), String(text[text.index(after: slash)...]))
    }

    /// From the shortest on: `mirror`, `mirror.json`, `etc/mirror`, `etc/mirror.json`, …; of a watched folder its path.
    private static func forms(_ name: String) -> [String] {
        if let folder = WatchBatch.folder(of: name) { return [folder] }
        if let oneOff = OneOffName(name) { return oneOff.forms }
        guard name.hasPrefix("/") else { return [] }
        let components = name.split(separator: "/").map(String.init)
        return (1...max(1, components.count)).flatMap { count -> [String] in
            let form = components.suffix(count).joined(separator: "/")
            guard let type = types.first(where: { form.lowercased().hasSuffix($0) }), form.count > type.count,
                !form.dropLast(type.count).hasSuffix("/")
            else { return [form] }
            return [String(form.dropLast(type.count)), form]
        }
    }

    private static let types = [".json", ".jsonl", ".ndjson", ".txt"]
}
