import TransferCore
import TransferUpload

extension JobSpec.UploadProtocol {
    /// A form (RFC 7578) with fields and the file.
    public static let multipart: Self = Self(
        UploadEntry(
            name: "multipart", method: "POST", keys: ["fields", "fileField", "method", "success"], givesNames: true,
            dialogue: form))

    @Sendable private static func form(_ attempt: UploadAttempt) throws(TransferError) -> (any UploadDialogue)? {
        let options = attempt.upload.options
        return attempt.receipted(
            FormUpload(
                url: attempt.upload.url, method: attempt.spec.method, source: attempt.source,
                fields: try attempt.read(options.fields), fileField: options.fileField))
    }
}
