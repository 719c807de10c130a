/// An upload that was given up while a server held a part of it.
struct AbandonedUpload: Sendable {
    let id: Int64
    let spec: JobSpec
    let upload: UploadRecord
}
