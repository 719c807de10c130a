import Glibc
import TransferCore
import TransferQueue

/// The reader of a service's job files, which accepts all of them or none.
struct ServedFileReader: Sendable {
    let paths: [String]
    let directory: String

    struct File: Sendable {
        let path: String
        /// The real path.
        let source: String
        var batch = BatchSpec()
        var jobs: [JobSpec] = []
        var folders: [WatchSpec] = []
    }

    /// Reads the files.
    ///
    /// - Throws: `TransferError` with the fault of a file.
    func read(_ surroundings: ServedFiles.Surroundings) throws -> [File] {
        let files = try paths.map { try read($0, surroundings) }
        var seen: Set<String> = []
        for folder in files.flatMap(\.folders) where !seen.insert(folder.folder).inserted {
            throw TransferError(.invalidRequest, "\(folder.folder) is watched by two job files")
        }
        return files
    }

    private func read(_ path: String, _ surroundings: ServedFiles.Surroundings) throws -> File {
        var reader = JobFileReader(
            format: JobFileFormat(fileName: path), directory: directory, rules: surroundings.rules, sums: Self.bytes)
        var file = File(path: path, source: Self.realPath(path))
        let report = try reader.read(try Self.bytes(path)) { element in
            switch element {
            case .batch(let batch): file.batch = batch
            case .job(let job, _): file.jobs.append(job)
            case .watch(let spec, _): file.folders.append(spec)
            case .fault: break
            }
        }
        guard report.isEmpty else { throw TransferError(.invalidRequest, report.rendered(file: path)) }
        try check(file, surroundings.hooks)
        return file
    }

    /// Checks that the commands exist. An unknown command is found before any transfer, and not at its end.
    private func check(_ file: File, _ hooks: HookSettings) throws {
        let named =
            [file.batch.onFinish?.hook] + file.jobs.map(\.settings.onFinish) + file.folders.map(\.settings.onFinish)
        var known: Set<String> = []
        for case .command(let name)?? in named where known.insert(name).inserted {
            if let refusal = hooks.refusal(of: name) {
                throw TransferError(.invalidRequest, "\(file.path): \(refusal)")
            }
        }
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw TransferError(.fileAccess, "cannot read \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
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
