import TransferCore

/// The names that the downloads of one batch get, in the order of its lists: a job whose file an earlier one gets is the
/// same job, gets a name of its own, or is refused.
///
/// The order alone decides, so that the same list gives the same names in every run. A job takes 32 bytes at most.
public final class DestinationNames {
    package enum Verdict: Sendable {
        case taken(JobSpec)
        /// The same job came before.
        case folded
        /// Why it can't be taken, in words.
        case refused(String)
    }

    /// `nil` until a file says, which is ``Collisions/fail``.
    private var rule: Collisions?
    private let directory: String
    /// Nobody compares the jobs otherwise: they are taken in one by one.
    private let isAlone: Bool
    private var names = TakenNames()
    private var jobs = TakenNames()
    /// The next number of names that came again.
    private var numbers: [UInt64: Int] = [:]

    /// - Parameters:
    ///   - rule: As an option says; without it what the first file says holds.
    ///   - directory: What relative paths start from.
    ///   - isAlone: Whether jobs are taken in as they come, so that nothing else would find two of one name.
    public init(_ rule: Collisions? = nil, directory: String? = nil, isAlone: Bool = false) {
        self.rule = rule
        self.directory = directory ?? "."
        self.isAlone = isAlone
    }

    /// Takes the word of a file where no option says anything.
    package func hear(_ said: Collisions?) { rule = rule ?? said }

    package func settle(_ spec: JobSpec) -> Verdict {
        let rule = rule ?? .fail
        let spelt = spec.spelt
        let isServers = Self.isNamedByServer(spelt)
        guard rule != .fail || isAlone || isServers else { return .taken(spec) }
        guard jobs.insert(Self.hash(of: spelt)) else { return .folded }
        if isAlone, let id = spec.id, !names.insert(Self.hash("id", id)) {
            return .refused("same id as an earlier job: \(id)")
        }
        guard case .download(var download) = spelt.work else {
            let key = spelt.destinationKey(directory: directory)
            guard isAlone, !key.isEmpty, !names.insert(Self.hash("to", key)) else { return .taken(spec) }
            return .refused("same destination as an earlier job: \(spelt.identity)")
        }
        let folder = Self.folder(of: download.destination)
        let name = Self.name(of: download)
        guard !take(folder + name) else {
            if isServers { _ = names.insert(Self.hash("asked", folder + Self.page(of: download))) }
            return .taken(spec)
        }
        let path: String
        switch rule {
        // One page gives many files, each by another query: their names are its own to say.
        case .fail where isServers && !names.insert(Self.hash("asked", folder + Self.page(of: download))):
            path = numbered(folder, name)
        case .fail: return .refused("same destination as an earlier job: \(folder + name); \(Collisions.offer)")
        case .rename: path = numbered(folder, name)
        case .path:
            let names = URLNames(download.urls.first ?? "")
            let inner = folder + ([names.host] + names.path.dropLast()).joined(separator: "/") + "/"
            let wanted = inner + names.name
            path = take(wanted) ? wanted : numbered(inner, names.name)
        }
        if isServers, let slash = path.lastIndex(of: "/") ?? (path.isEmpty ? nil : path.startIndex) {
            let isPlain = path[slash] != "/"
            download.destination = isPlain ? "./" : String(path[...slash])
            download.defaultName = String(isPlain ? path[...] : path[path.index(after: slash)...])
        } else {
            download.destination = path
        }
        var renamed = spec
        if case .download(let own) = spec.work { download.urls = own.urls }
        renamed.work = .download(download)
        // Of the job as it was written, which a configuration doesn't change.
        renamed.lasting = Int64(bitPattern: Self.hash(String(spelt.fingerprint, radix: 36), path))
        return .taken(renamed)
    }

    /// Whether the file's name is the server's to give, as the URL's own says nothing: a page in a folder, with a query.
    private static func isNamedByServer(_ spec: JobSpec) -> Bool {
        guard spec.id == nil, case .download(let download) = spec.work, download.destination.hasSuffix("/"),
            download.defaultName == nil, let url = download.urls.first, url.lowercased().hasPrefix("http")
        else { return false }
        return page(of: download) != url.prefix { $0 != "#" }
    }

    /// The URL without its query.
    private static func page(of download: JobSpec.Download) -> String {
        String((download.urls.first ?? "").prefix { $0 != "?" && $0 != "#" })
    }

    /// The job under the name that it gets; `nil` for one that came before. One that nothing names otherwise is left to
    /// those who compare the jobs of the batch.
    public func named(_ spec: JobSpec) -> JobSpec? {
        switch settle(spec) {
        case .taken(let spec): spec
        case .folded: nil
        case .refused: spec
        }
    }

    private func numbered(_ folder: String, _ name: String) -> String {
        let key = Self.hash("number", folder + name)
        var number = numbers[key] ?? 2
        while true {
            let path = folder + Self.numbered(name, number)
            number += 1
            guard take(path) else { continue }
            numbers[key] = number
            return path
        }
    }

    /// `name-2.ext`; `name-2.tar.gz`.
    private static func numbered(_ name: String, _ number: Int) -> String {
        var dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        if name[..<dot].hasSuffix(".tar"), name[..<dot].count > 4 { dot = name.index(dot, offsetBy: -4) }
        if name[dot...].utf8.count > 20 { dot = name.endIndex }
        return FittedName.make(name[..<dot], "-\(number)\(name[dot...])", limit: 255)
    }

    private func take(_ path: String) -> Bool {
        let target = DownloadTarget(path, directory: directory)
        return names.insert(Self.hash("to", DestinationPath.normalized(target.path)))
    }

    /// The folder, with a slash at its end; empty for that of the batch.
    private static func folder(of destination: String) -> String {
        guard let slash = destination.lastIndex(of: "/") else { return "" }
        let folder = String(destination[...slash])
        return folder == "./" ? "" : folder
    }

    /// The name as far as it's known before the server has answered.
    private static func name(of download: JobSpec.Download) -> String {
        guard download.destination.hasSuffix("/") else {
            return String(download.destination.split(separator: "/").last ?? "")
        }
        return download.defaultName ?? SafeFileName.fromURL(download.urls.first ?? "") ?? "index.html"
    }

    private static func hash(of spec: JobSpec) -> UInt64 {
        var hash = FNV1a()
        hash.add(spec.id ?? "")
        hash.add(spec.identity)
        hash.add(String(spec.fingerprint, radix: 36))
        return hash.value
    }

    private static func hash(_ kind: String, _ text: String) -> UInt64 {
        var hash = FNV1a()
        hash.add(kind)
        hash.add(text)
        return hash.value
    }
}

extension DestinationNames {
    /// Whether something is put into a destination, such as `{host}`.
    public static func hasPlaces(_ destination: String) -> Bool {
        (try? DestinationTemplate(destination))?.hasPlaces ?? false
    }

    /// - Returns: What is wrong with a destination's places, in words; `nil` for nothing.
    public static func refusal(ofDestination destination: String) -> String? {
        DestinationTemplate.refusal(of: destination)
    }

    /// A destination with what stands for its places.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - number: Its position among the others, from 1.
    public static func destination(_ text: String, of url: String, number: Int) -> String {
        guard !DestinationTemplate.isPlain(text) else { return text }
        return DestinationTemplate.expanded(text, url: url, .init(number: number, date: LocalDate.today))
    }

    /// A path as the destination in a job file that stands for it, with its braces.
    public static func escaped(_ path: String) -> String { TemplateText.escaped(path) }
}
