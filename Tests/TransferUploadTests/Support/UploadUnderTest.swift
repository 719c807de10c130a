import Testing
import TransferCore
import TransferTestServer

@testable import TransferUpload

/// A protocol with a server, for the rules that all protocols share.
struct UploadUnderTest: Sendable, CustomTestStringConvertible {
    let name: String
    let server: @Sendable () -> any ConformingServer
    /// Whether the owner's rules forbid to send the upload twice. Such an upload has no second attempt.
    var isOnce = false
    /// Whether no question can resolve the loss of one of its requests. The upload then fails as one that may have been
    /// sent.
    var admitsDoubt = false
    /// Whether the owner asks after the death of a process, which may have sent the whole file.
    var isAskedAfterDeath = false
    /// The size of the file in bytes.
    var content = 60
    let dialogue: @Sendable (UploadSource, UploadState?) -> any UploadDialogue

    var testDescription: String { name }

    static let now: Int64 = 1_800_000_000

    static let all: [UploadUnderTest] = [
        UploadUnderTest(name: "put", server: { PlainServer() }, isAskedAfterDeath: true) { source, state in
            confirmed(plain, source, state) { PlainPut(url: plain, method: "PUT", source: source) }
        },
        UploadUnderTest(name: "put, resumed", server: { ResumableService() }, isAskedAfterDeath: true) {
            source, state in
            confirmed(plain, source, state) { resumable(.upgrade, source, state) }
        },
        UploadUnderTest(name: "createFolders", server: { PlainServer(folders: ["/"]) }, isAskedAfterDeath: true) {
            source, state in
            let url = "http://server.test/in/a/f"
            return confirmed(url, source, state) { FolderMakingPut(url: url, source: source) }
        },
        UploadUnderTest(name: "post", server: { PlainServer() }, isOnce: true) { source, state in
            let rule = ReceiptRule(method: "POST", success: nil)
            let post = PlainPut(url: plain, method: "POST", source: source)
            return ReceiptDialogue(post, rule: rule, url: plain, source: source, state: state)
        },
        UploadUnderTest(name: "multipart", server: { PlainServer() }, isOnce: true) { source, state in
            let form = FormUpload(url: plain, source: source, fields: [HeaderField("a", "b")], boundary: "edge")
            return ReceiptDialogue(
                form, rule: ReceiptRule(method: "POST", success: nil), url: plain, source: source, state: state)
        },
        UploadUnderTest(name: "tus", server: { TusService() }) { source, state in
            TusDialogue(url: files, source: source, options: TusOptions(chunkSize: 16), state: state)
        },
        UploadUnderTest(name: "tus, in parts", server: { TusService() }, admitsDoubt: true) { source, state in
            let options = TusOptions(parallel: 3, minimumPartSize: 10)
            return TusDialogue(url: files, source: source, options: options, state: state)
        },
        UploadUnderTest(name: "resumable", server: { ResumableService() }) { source, state in
            resumable(.careful, source, state)
        },
        UploadUnderTest(name: "s3", server: { S3Server(clock: now) }, content: 16, dialogue: s3),
        UploadUnderTest(name: "s3, in parts", server: { S3Server(clock: now) }, dialogue: s3),
        UploadUnderTest(name: "sftp", server: { FileModel() }) { source, state in
            FileServerUpload(url: file, source: source, state: state, mark: "m1")
        },
        UploadUnderTest(name: "ftp, in place", server: { FileModel() }) { source, state in
            FileServerUpload.inPlace(url: file, source: source, state: state)
        },
    ]

    private static let plain = "http://server.test/in/f"
    private static let files = "http://server.test/files"
    private static let file = "sftp://server.test/in/f"

    private static func resumable(
        _ mode: ResumableOptions.Mode, _ source: UploadSource, _ state: UploadState?
    ) -> ResumableDialogue {
        ResumableDialogue(
            source: source, options: ResumableOptions(url: plain, method: "PUT", mode: mode), state: state)
    }

    private static func confirmed(
        _ url: String, _ source: UploadSource, _ state: UploadState?, _ send: () -> any UploadDialogue
    ) -> any UploadDialogue {
        let asking = state.flatMap { ConfirmingPut(url: url, source: source, state: $0, otherwise: send()) }
        return ReceiptDialogue(
            asking ?? send(), rule: ReceiptRule(method: "PUT", success: nil), url: url, source: source, state: state)
    }

    @Sendable private static func s3(_ source: UploadSource, _ state: UploadState?) -> any UploadDialogue {
        // The location is well-formed.
        guard let location = try? S3Location("s3://b/k", endpoint: "http://s3.example") else {
            return FormUpload(url: "", source: source)
        }
        return S3Dialogue(
            location: location, credentials: S3Credentials(accessKey: "A", secret: "S"), source: source,
            options: S3Options(threshold: 20, partSize: 20, minimumPartSize: 1, parallel: 2, integrity: .none),
            state: state)
    }
}
