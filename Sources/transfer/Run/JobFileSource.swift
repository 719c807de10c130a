import Glibc
import TransferCore
import TransferQueue

/// A job file as the user names it: read, checked and handed to the queue.
struct JobFileSource: Sendable {
    /// As the user wrote it.
    let name: String
    let bytes: MappedFile
    private let rules: RequestRules
    private let list: ListRules
    private let hooks: HookSettings?

    /// - Parameters:
    ///   - name: A path, a URL, or `-` for standard input.
    ///   - rules: Laid over the file's `defaults`.
    ///   - list: How it's read.
    ///   - hooks: The commands that the file may name as `onFinish`; `nil` where nobody asks what it names.
    ///   - contents: What it holds, where that was read before.
    /// - Throws: `Failure` when it can't be read.
    init(
        _ name: String, rules: RequestRules = RequestRules(), list: ListRules = ListRules(),
        hooks: HookSettings? = nil, contents: [UInt8]? = nil
    ) throws {
        self.name = FetchedDocument.isURL(name) ? Redaction.url(name) : name
        self.rules = rules
        self.list = list
        self.hooks = hooks
        if let contents {
            bytes = MappedFile(contents)
            return
        }
        if FetchedDocument.isURL(name) {
            bytes = MappedFile(try list.documents.read(name))
            return
        }
        do throws(TransferError) {
            bytes = try MappedFile(name == "-" ? "/dev/stdin" : name)
        } catch {
            throw Failure(.unreadableJobFile, error.message)
        }
    }

    /// The batch's identity where neither the file nor the user names it.
    var realPath: String {
        if FetchedDocument.isURL(name) { return name }
        guard let path = realpath(name, nil) else { return Composition.absolute(name) }
        defer { free(path) }
        return String(cString: path)
    }

    private struct Found: Error {}

    /// What holds for the whole batch.
    func batch() -> BatchSpec {
        var found = BatchSpec()
        var reader = makeReader()
        _ = try? bytes.withBytes { bytes in
            try reader.read(bytes) { element in
                if case .batch(let batch) = element { found = batch }
                throw Found()
            }
        }
        return found
    }

    /// Reads all jobs and watched folders; what is wrong is in the report.
    ///
    /// - Parameters:
    ///   - directory: What the relative paths start from.
    ///   - names: The names that files get; shared by the lists of one batch.
    ///   - watch: Takes the watched folders.
    ///   - take: Takes the jobs.
    func read(
        directory: String, names: DestinationNames? = nil, watch: (WatchSpec, WatchLocations) -> Void,
        _ take: (JobSpec, JobLocations) throws -> Void
    ) throws -> JobFileReport {
        var reader = makeReader(directory: directory, names: names)
        var count = 0
        var check = HookCheck(hooks)
        var cookieFiles: Set<String> = []
        var missing: [JobFileFault] = []
        var report = try bytes.withBytes { view in
            try reader.read(view) { element in
                switch element {
                case .job(let spec, let place):
                    count += 1
                    check.note(spec, place)
                    if count.isMultiple(of: Self.jobsInMemory) { bytes.release() }
                    // A job that needs others may need the file of one of them.
                    if let path = spec.settings.http.cookies, spec.needs.isEmpty, cookieFiles.insert(path).inserted,
                        let fault = CookieFile.fault(Composition.absolute(path))
                    {
                        missing.append(
                            JobFileFault(message: fault, path: place.path(of: "cookies"), span: place.job))
                    }
                    try take(spec, place)
                case .watch(let spec, let place):
                    check.note(spec, place)
                    watch(spec, place)
                case .batch(let spec): check.note(spec)
                case .fault: break
                }
            }
        }
        for fault in check.faults { report.add(fault) }
        for fault in missing { report.add(fault) }
        // A list that a script left empty isn't one whose work is done.
        if report.jobCount == 0, report.watchCount == 0, report.isEmpty {
            let span = SourceSpan(line: 1, column: 1)
            report.add(JobFileFault(message: "there is no job in it", path: "", span: span))
        }
        return report
    }

    /// A file of a million jobs isn't to be in memory as a whole once it was read.
    private static let jobsInMemory = 8192

    private func makeReader(directory: String? = nil, names: DestinationNames? = nil) -> JobFileReader {
        JobFileReader(
            format: list.format ?? format, directory: directory, rules: rules, metalink: list.metalink,
            names: names ?? DestinationNames(list.collisions, directory: directory), destination: list.destination,
            workingFolder: directory == nil ? nil : Composition.workingFolder, sums: Self.sums(list.documents))
    }

    private var format: JobFileFormat? {
        guard FetchedDocument.isURL(name) else { return name == "-" ? nil : JobFileFormat(fileName: name) }
        return FetchedDocument.isMetalink(name) ? .metalink : nil
    }

    /// Reads lists of checksums, which are beside the job file or are named by URLs.
    static func sums(_ documents: FetchedDocument) -> @Sendable (String) throws -> [UInt8] {
        { path in
            if FetchedDocument.isURL(path) { return try documents.read(path) }
            return try MappedFile(path).withBytes { Array($0) }
        }
    }
}

/// A file's bytes, in memory as they are touched.
final class MappedFile: Sendable {
    private let base: UInt
    private let count: Int
    /// For what can't be mapped: pipes and the like.
    private let copy: [UInt8]

    init(_ bytes: [UInt8]) {
        base = 0
        count = 0
        copy = bytes
    }

    init(_ path: String) throws(TransferError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure(path) }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw TransferError(.fileAccess, "can't read \(path): it's a folder")
        }
        if status.st_size > 0, let map = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0),
            map != MAP_FAILED
        {
            base = UInt(bitPattern: map)
            count = Int(status.st_size)
            copy = []
            return
        }
        base = 0
        count = 0
        copy = Self.readAll(descriptor)
    }

    deinit { if count > 0 { munmap(UnsafeMutableRawPointer(bitPattern: base), count) } }

    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        guard count > 0 else { return try copy.withUnsafeBytes(body) }
        return try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: base), count: count))
    }

    /// Drops the pages from memory; a later look reads them from the file again (madvise(2)).
    func release() {
        if count > 0 { madvise(UnsafeMutableRawPointer(bitPattern: base), count, Int32(MADV_DONTNEED)) }
    }

    private static func readAll(_ descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    private static func failure(_ path: String) -> TransferError {
        TransferError(.fileAccess, "can't read \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
    }
}
