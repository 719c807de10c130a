package import TransferCore
package import TransferEngine
package import TransferUpload

extension UploadSource {
    /// - Parameter expected: The digest that the source has to have.
    package init(_ source: RemoteSource, expected: Checksum?) {
        self.init(name: UploadBytes.remote(source).name, size: source.size, digest: expected)
        isStreamed = true
        labels = source.version?.labels
    }
}

/// What an upload sends: a file of this machine, or what another server has.
package enum UploadBytes: Sendable {
    case file(SourceFile)
    case remote(RemoteSource)

    package var size: Int64 {
        switch self {
        case .file(let file): file.size
        case .remote(let source): source.size
        }
    }

    /// The file's path, or the source's URL without its secrets.
    package var place: String {
        switch self {
        case .file(let file): file.path
        case .remote(let source): source.urls.first ?? ""
        }
    }

    /// A name for protocols that tell one, without folders.
    package var name: String {
        switch self {
        case .file(let file): WatchedPath.name(file.path)
        case .remote(let source): source.urls.first.flatMap(SafeFileName.fromURL) ?? "file"
        }
    }

    package var file: SourceFile? {
        if case .file(let file) = self { file } else { nil }
    }

    package var remote: RemoteSource? {
        if case .remote(let source) = self { source } else { nil }
    }

    /// A range of it as a request's body.
    ///
    /// - Parameter sums: The digest of the range is made while it's sent, where it comes from another server.
    package func body(
        _ range: Range<Int64>, prefix: [UInt8] = [], suffix: [UInt8] = [], sums: DigestAlgorithm? = nil
    ) -> RequestBody {
        switch self {
        case .file(let file): .part(SourcePart(file, range: range, prefix: prefix, suffix: suffix))
        case .remote(let source): .window(source.window(range, prefix: prefix, suffix: suffix, sums: sums))
        }
    }

    private func record(of source: RemoteSource, _ state: UploadState?, _ confirmed: Int64) -> UploadRecord {
        var record = UploadRecord(source.version, state: state, confirmed: confirmed)
        record.remote = RemoteRecord(
            validator: source.version?.validator, labels: source.version?.labels, digest: source.progress)
        return record
    }

    /// What is recorded of an upload of it.
    package func record(state: UploadState?, confirmed: Int64) -> UploadRecord {
        switch self {
        case .file(let file): UploadRecord(file, state: state, confirmed: confirmed)
        case .remote(let source): record(of: source, state, confirmed)
        }
    }
}
