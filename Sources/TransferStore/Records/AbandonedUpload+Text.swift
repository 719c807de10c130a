import TransferCore
package import TransferJobs

extension AbandonedUpload {
    /// An upload as the database has it.
    ///
    /// - Returns: `nil` where there is nothing that can be read.
    package init?(id: Int64, spec: String, upload: String?) {
        guard let upload = upload.flatMap({ UploadRecord(text: $0) }), let spec = try? JobSpec(canonicalJSON: spec)
        else { return nil }
        self.init(id: id, spec: spec, upload: upload)
    }

    /// - Returns: The upload with the secrets that its job was blanked of.
    package func restored(_ secrets: JobSecrets) -> AbandonedUpload {
        AbandonedUpload(id: id, spec: secrets.restore(spec), upload: upload)
    }
}
