import TransferCore
import TransferCrypto
import TransferEngine
import TransferUpload

extension UploadProtocols {
    /// The dialogue of an upload whose server is asked for the digest of what it has.
    static func verifying(
        _ spec: JobSpec, _ upload: JobSpec.Upload, source: UploadSource, state: String?, secrets: SecretSource
    ) throws(TransferError) -> any UploadDialogue {
        let own = state.flatMap { VerifyingDialogue.isVerifying($0) ? nil : $0 }
        let inner =
            try dialogue(spec, upload, source: source, state: own, secrets: secrets)
            ?? receipted(
                OneRequest(url: upload.url, method: spec.method, source: source), upload, source, own)
        let place = try place(spec, upload, secrets)
        return VerifyingDialogue(inner, source: source, state: state, place: place)
    }

    /// Where a finished upload can be asked for.
    private static func place(
        _ spec: JobSpec, _ upload: JobSpec.Upload, _ secrets: SecretSource
    ) throws(TransferError) -> @Sendable (UploadResult) -> VerifyingDialogue.Place {
        let method = spec.method
        switch upload.uploadProtocol {
        case .s3:
            let access = spec.settings.s3 ?? JobSettings.S3Access()
            let location = try access.location(upload.url, secrets)
            let credentials = try access.credentials(secrets)
            return { result in
                let there = result.region.flatMap { location.inRegion($0) } ?? location
                return VerifyingDialogue.Place(url: there.url) { now throws(TransferError) in
                    try there.fields(credentials: credentials, now: now)
                }
            }
        case .ftp, .sftp: return { _ in VerifyingDialogue.Place(url: upload.url) }
        case .tus:
            return { result in
                VerifyingDialogue.Place(url: result.url, headers: [HeaderField("Tus-Resumable", "1.0.0")])
            }
        case .put, .post, .multipart, .resumable:
            return { result in
                if method == "PUT" { return VerifyingDialogue.Place(url: upload.url) }
                // What was sent to is no file, and who made one of it has to say where.
                return VerifyingDialogue.Place(url: result.url == upload.url ? nil : result.url)
            }
        }
    }
}

/// Hashes an answer as it comes; nothing of it is kept.
final class DigestSink: BodySink {
    /// The digest, for whoever hears of the exchange's end.
    ///
    /// `@unchecked Sendable`: touched on the exchange's loop only, where its sink and its events are called.
    final class Outcome: @unchecked Sendable {
        private let algorithm: DigestAlgorithm
        fileprivate var digest: Digest?

        init(_ algorithm: DigestAlgorithm) {
            self.algorithm = algorithm
            begin()
        }

        fileprivate func begin() { digest = try? Digest(algorithm) }

        /// Of an answer that has come whole.
        func finish() -> Checksum? { digest.take().flatMap { try? $0.finish() } }
    }

    private(set) var position: Int64 = 0
    private let outcome: Outcome

    init(_ outcome: Outcome) { self.outcome = outcome }

    func begin(_ start: BodyStart) throws(TransferError) {
        position = 0
        outcome.begin()
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        position += Int64(bytes.count)
        outcome.digest?.update(bytes)
    }
}
