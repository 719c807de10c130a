import Glibc
public import TransferQueue

/// Job files of the operator, which a service runs from its start on: their jobs, and the folders that they watch.
public struct ServedFiles: Sendable {
    private let paths: [String]
    /// What relative paths start from.
    private let directory: String
    private let rules: RequestRules

    /// - Parameters:
    ///   - paths: Of job files.
    ///   - directory: What the files' relative paths start from; absolute.
    ///   - rules: Laid over the files' `defaults`.
    public init(_ paths: [String], directory: String, rules: RequestRules = RequestRules()) {
        self.paths = paths
        self.directory = directory
        self.rules = rules
    }

    /// The folders that are watched, and what the files say of how much at once; the first one's word counts.
    public struct Begun: Sendable {
        public var folders: [WatchedFolder] = []
        public var limits = BatchLimits()
    }

    /// Takes the files into the queue, before it runs.
    ///
    /// - Throws: `TransferError` that says what is wrong with a file.
    public func begin(on queue: JobQueue) async throws -> Begun {
        var begun = Begun()
        for path in paths {
            let file = try read(path)
            if begun.limits == BatchLimits() { begun.limits = file.batch.limits }
            if !file.jobs.isEmpty { try await stage(file, path, queue) }
            for spec in file.folders { begun.folders.append(try await WatchedFolder.start(spec, on: queue)) }
        }
        return begun
    }

    private struct File: Sendable {
        var batch = BatchSpec()
        var jobs: [JobSpec] = []
        var folders: [WatchSpec] = []
    }

    private func read(_ path: String) throws -> File {
        var reader = JobFileReader(
            format: JobFileFormat(fileName: path), directory: directory, rules: rules, sums: Self.bytes)
        var file = File()
        let report = try reader.read(try Self.bytes(path)) { element in
            switch element {
            case .batch(let batch): file.batch = batch
            case .job(let job, _): file.jobs.append(job)
            case .watch(let spec, _): file.folders.append(spec)
            case .fault: break
            }
        }
        guard report.isEmpty else { throw TransferError(.invalidRequest, report.rendered(file: path)) }
        return file
    }

    private func stage(_ file: File, _ path: String, _ queue: JobQueue) async throws {
        let source = Self.realPath(path)
        do {
            _ = try await queue.stage(
                name: file.batch.name ?? source, source: source, directory: directory, isReload: true,
                onFinish: file.batch.onFinish
            ) { take in
                for job in file.jobs { try take(job, nil) }
                return true
            }
        } catch StagingError.faults(let report) {
            throw TransferError(.invalidRequest, report.rendered(file: path))
        } catch StagingError.held(let batch, let pid) {
            throw TransferError(.fileLocked, "\(batch) is being run by process \(pid)")
        }
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw TransferError(.fileAccess, "can't read \(path): \(String(cString: strerror(errno)).lowercased())")
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(file, &piece, piece.count)
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
        }
    }

    private static func realPath(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}
