import Glibc
import TransferCore
import TransferQueue

/// A job file that the user names: it is read, checked and passed to the queue.
struct JobFileSource: Sendable {
    /// The name as the user wrote it.
    let name: String
    let bytes: MappedFile
    private let rules: RequestRules
    private let list: ListRules
    private let hooks: HookSettings?

    /// Opens a job file.
    ///
    /// - Parameters:
    ///   - name: A path, a URL, or `-` for standard input.
    ///   - rules: The rules that override the file's `defaults`.
    ///   - list: The rules for reading the file.
    ///   - hooks: The commands that the file may name as `onFinish`; `nil` does not check them.
    ///   - contents: The content, where it was read before.
    /// - Throws: `Failure` when the file cannot be read.
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

    /// The absolute path without links, which identifies the batch where neither the file nor the user names it.
    var realPath: String {
        if FetchedDocument.isURL(name) { return name }
        guard let path = realpath(name, nil) else { return Composition.absolute(name) }
        defer { free(path) }
        return String(cString: path)
    }

    private struct Found: Error {}

    /// Returns the settings of the whole batch.
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

    /// Reads all jobs and watched folders; the report has the faults.
    ///
    /// - Parameters:
    ///   - directory: The folder in which relative paths begin.
    ///   - names: The names that files get; shared by the lists of one batch.
    ///   - watch: A closure that takes the watched folders.
    ///   - take: A closure that takes the jobs.
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
                    // A job that needs others may use a file that one of them makes.
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
        // An empty list, for example of a failed script, is an error.
        if report.jobCount == 0, report.watchCount == 0, report.isEmpty {
            let span = SourceSpan(line: 1, column: 1)
            report.add(JobFileFault(message: "there is no job in it", path: "", span: span))
        }
        return report
    }

    /// The number of jobs between two releases of memory: a file of a million jobs must not stay in memory after it was
    /// read.
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

    /// Returns a reader of lists of checksums, which are beside the job file or are named by URLs.
    static func sums(_ documents: FetchedDocument) -> @Sendable (String) throws -> [UInt8] {
        { path in
            if FetchedDocument.isURL(path) {
                guard !documents.asksNoServer else {
                    StandardError.write(
                        "note: no server is asked, so the checksums of \(Redaction.url(path)) were not read\n")
                    throw ChecksumSource.ListNotRead()
                }
                return try documents.read(path)
            }
            return try MappedFile(path).withBytes { Array($0) }
        }
    }
}

/// The bytes of a file, loaded into memory when they are used.
final class MappedFile: Sendable {
    private let base: UInt
    private let count: Int
    /// The bytes of a file that cannot be mapped, such as a pipe.
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
            throw TransferError(.fileAccess, "cannot read \(path): it is a folder")
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

    /// Releases the pages from memory; a later access reads them from the file again (madvise(2)).
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
        TransferError(.fileAccess, "cannot read \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
    }
}
