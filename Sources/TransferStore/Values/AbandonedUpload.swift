package import TransferJobs

/// An upload that was given up while a server held a part of it.
package struct AbandonedUpload: Sendable {
    package let id: Int64
    package let spec: JobSpec
    package let upload: UploadRecord

    package init(id: Int64, spec: JobSpec, upload: UploadRecord) {
        self.id = id
        self.spec = spec
        self.upload = upload
    }
}
