import TransferCore
import TransferUpload

/// The uploads in a form: their entry in the registry.
enum FormUploads {
    /// An upload as a form (RFC 7578) with fields and the file.
    static let multipart: JobSpec.UploadProtocol = JobSpec.UploadProtocol(
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
