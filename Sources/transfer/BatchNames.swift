import Glibc
import TransferCore
import TransferQueue

/// Batches as people name them. The batch of a job file without a name is known by that file's path; it's shown, and
/// found, by as much of the path's end as tells it from the others. One of `transfer get` or `put` is called after its
/// first server and by its number.
struct BatchNames: Sendable {
    private let names: Set<String>
    /// The highest number that a batch ever got.
    private let last: Int64
    /// What batches of `get` and `put` are called for as long as they are there.
    private var calls: [String: String] = [:]
    /// Which are called so.
    private var called: [String: String] = [:]
    /// The batches that each short form may mean.
    private var meanings: [String: [String]] = [:]

    /// - Parameter register: Those in the queue.
    init(_ register: BatchRegister = BatchRegister()) {
        names = Set(register.names)
        last = register.last
        for entry in register.entries {
            if let name = OneOffName(entry.name)?.lasting(entry.number) {
                calls[entry.name] = name
                called[name] = entry.name
            }
            for form in Self.forms(entry.name) { meanings[form, default: []].append(entry.name) }
        }
    }

    /// Batches of no queue, numbered in their order.
    init(_ names: some Sequence<String>) {
        let entries = names.enumerated().map { BatchRegister.Entry(name: $1, number: Int64($0 + 1)) }
        self.init(BatchRegister(entries: entries, last: Int64(entries.count)))
    }

    /// The batch's short name, for people.
    func short(_ name: String) -> String {
        if let call = calls[name] { return isFree(call) ? call : name }
        guard name.hasPrefix("/") else { return name }
        return Self.forms(name).first { meanings[$0] == [name] && isFree($0) } ?? name
    }

    /// What the batch is called in commands that are pasted at any later time: it never means another one, nor several,
    /// whatever batches come and go. As much of a path as tells it from the others today may be too little tomorrow.
    func lasting(_ name: String) -> String { Self.lasting(name, shown: short(name)) }

    /// - Parameter shown: ``short(_:)``
    static func lasting(_ name: String, shown: String) -> String { name.hasPrefix("/") ? name : shown }

    /// Whether it has a shorter form than its own.
    static func isLong(_ name: String) -> Bool { name.hasPrefix("/") || OneOffName(name) != nil }

    /// A name that may have been meant.
    func nearest(_ text: String) -> String? {
        NearestKey.suggestion(for: text, among: names.map(short).sorted())
    }

    /// Whether a batch was called that once, or may have been: of `get` or `put`, and forgotten since.
    func isForgotten(_ text: String) -> Bool {
        guard OneOffName.isLike(text) else { return false }
        return OneOffName.number(of: text).map { $0 <= last } ?? (last > 0)
    }

    /// Whether no batch has it for its own name, and none of that name has a job that is called so: `etc/mirror` is a job
    /// of the batch `etc`, where there is that.
    private func isFree(_ form: String) -> Bool {
        !names.contains(form)
            && !form.indices.contains { form[$0] == "/" && names.contains(String(form[..<$0])) }
    }

    /// The batch that is meant; `nil` where there is none.
    ///
    /// - Throws: `Failure` for what may mean several.
    func find(_ text: String) throws(Failure) -> String? {
        if names.contains(text) { return text }
        if let batch = called[text], isFree(text) { return batch }
        if let found = meanings[text], isFree(text) {
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
        guard OneOffName(text) == nil, let slash = text.firstIndex(of: "/"), slash > text.startIndex else {
            return (text, nil)
        }
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
            // What a batch of `get` was called, which may be gone, is no short form of another one.
        }.filter { OneOffName.number(of: $0) == nil }
    }

    private static let types = [".json", ".jsonl", ".ndjson", ".txt"]
}
