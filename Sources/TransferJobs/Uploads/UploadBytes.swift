package import TransferCore
package import TransferEngine
package import TransferUpload

extension UploadSource {
    /// Creates the source of a copy.
    ///
    /// - Parameter expected: The digest that the source must have.
    package init(_ source: RemoteSource, expected: Checksum?) {
        self.init(name: UploadBytes.remote(source).name, size: source.size, digest: expected)
        isStreamed = true
        labels = source.version?.labels
    }
}

/// The bytes that an upload sends: a file of this machine, or data of another server.
package enum UploadBytes: Sendable {
    case file(SourceFile)
    case remote(RemoteSource)

    package var size: Int64 {
        switch self {
        case .file(let file): file.size
        case .remote(let source): source.size
        }
    }

    /// The file's path, or the source's URL without secrets.
    package var place: String {
        switch self {
        case .file(let file): file.path
        case .remote(let source): source.urls.first ?? ""
        }
    }

    /// The name, without folders, for protocols that send one.
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

    /// Returns a range of the bytes as a request's body.
    ///
    /// - Parameter sums: The algorithm of a digest that is computed while the range is sent; only for data of another
    ///   server.
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

    /// Returns the record of an upload of these bytes.
    package func record(state: UploadState?, confirmed: Int64) -> UploadRecord {
        switch self {
        case .file(let file): UploadRecord(file, state: state, confirmed: confirmed)
        case .remote(let source): record(of: source, state, confirmed)
        }
    }
}
