import TransferCore
package import TransferJobs

extension AbandonedUpload {
    /// Reads an upload from the texts of the database.
    ///
    /// - Returns: `nil` where there is no record, or a text cannot be read.
    package init?(id: Int64, spec: String, upload: String?) {
        guard let upload = upload.flatMap({ UploadRecord(text: $0) }), let spec = try? JobSpec(canonicalJSON: spec)
        else { return nil }
        self.init(id: id, spec: spec, upload: upload)
    }

    /// Returns the upload with the secrets that were removed from its job.
    package func restored(_ secrets: JobSecrets) -> AbandonedUpload {
        AbandonedUpload(id: id, spec: secrets.restore(spec), upload: upload)
    }
}
