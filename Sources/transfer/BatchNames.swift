import Glibc
import TransferCore
import TransferQueue

/// The names of batches that people read and type.
///
/// The batch of a job file without a name has that file's path as its name. It is shown and found by the shortest end
/// of the path that is unique. A batch of `transfer get` or `put` is named after its first server and its number.
struct BatchNames: Sendable {
    private let names: Set<String>
    /// The highest number that a batch ever had.
    private let last: Int64
    /// The short names of existing batches of `get` and `put`, by their full names.
    private var calls: [String: String] = [:]
    /// The full names of those batches, by their short names.
    private var called: [String: String] = [:]
    /// The batches that each short form may mean.
    private var meanings: [String: [String]] = [:]

    /// Creates the names of the batches in a queue.
    ///
    /// - Parameter register: The batches of the queue.
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

    /// Creates the names of batches outside a queue, numbered in their order.
    init(_ names: some Sequence<String>) {
        let entries = names.enumerated().map { BatchRegister.Entry(name: $1, number: Int64($0 + 1)) }
        self.init(BatchRegister(entries: entries, last: Int64(entries.count)))
    }

    /// Returns the batch's short name, for people.
    func short(_ name: String) -> String {
        if let call = calls[name] { return isFree(call) ? call : name }
        guard name.hasPrefix("/") else { return name }
        return Self.forms(name).first { meanings[$0] == [name] && isFree($0) } ?? name
    }

    /// Returns the batch's name for commands that are pasted at any later time.
    ///
    /// The name never means another batch or several ones, regardless of later batches. An end of a path that is unique today
    /// may be ambiguous tomorrow.
    func lasting(_ name: String) -> String { Self.lasting(name, shown: short(name)) }

    /// Returns the batch's name for commands that are pasted later.
    ///
    /// - Parameter shown: The name of ``short(_:)``.
    static func lasting(_ name: String, shown: String) -> String { name.hasPrefix("/") ? name : shown }

    /// Returns whether a batch has a shorter form than its name.
    static func isLong(_ name: String) -> Bool { name.hasPrefix("/") || OneOffName(name) != nil }

    /// Returns a similar name that may have been meant.
    func nearest(_ text: String) -> String? {
        NearestKey.suggestion(for: text, among: names.map(short).sorted())
    }

    /// Returns whether a batch of `get` or `put` once had that name, or may have had it, and was forgotten since.
    func isForgotten(_ text: String) -> Bool {
        guard OneOffName.isLike(text) else { return false }
        return OneOffName.number(of: text).map { $0 <= last } ?? (last > 0)
    }

    /// Returns whether the form means nothing else: neither a batch's full name nor a job of a batch.
    ///
    /// `etc/mirror` is a job of the batch `etc`, where that exists.
    private func isFree(_ form: String) -> Bool {
        !names.contains(form)
            && !form.indices.contains { form[$0] == "/" && names.contains(String(form[..<$0])) }
    }

    /// Returns the full name of the batch that is meant; `nil` where there is none.
    ///
    /// - Throws: `Failure` for an ambiguous name.
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

    /// Splits `BATCH/JOB`. Both may have slashes: the longest batch counts.
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

    /// Returns the short forms of a name, the shortest first: `mirror`, `mirror.json`, `etc/mirror`, `etc/mirror.json`,
    /// ….
    ///
    /// For a watched folder the form is its path.
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
            // A name of a batch of `get`, which may be forgotten, is no short form of another batch.
        }.filter { OneOffName.number(of: $0) == nil }
    }

    private static let types = [".json", ".jsonl", ".ndjson", ".txt"]
}
