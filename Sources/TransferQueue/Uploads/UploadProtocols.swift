import TransferCore
import TransferUpload

/// Which dialogue an upload needs.
enum UploadProtocols {
    /// A plain request that is longer than this is offered to be resumed.
    static let upgradeSize: Int64 = 4 << 20

    /// Whether a first attempt at it is one request and no more, whatever its source is called.
    static func isOneRequest(_ upload: JobSpec.Upload, size: Int64) -> Bool {
        (upload.uploadProtocol == .put || upload.uploadProtocol == .post) && !upload.options.createFolders
            && size < upgradeSize
    }

    /// - Parameter state: What an earlier attempt saved.
    /// - Returns: `nil` for an upload that is one request and no more.
    static func dialogue(
        _ spec: JobSpec, _ upload: JobSpec.Upload, source: UploadSource, state: String?, secrets: SecretSource
    ) throws(TransferError) -> (any UploadDialogue)? {
        let options = upload.options
        switch upload.uploadProtocol {
        case .put, .post:
            if let state, ReceiptDialogue.isState(state) {
                return ReceiptDialogue(nil, rule: upload.receipt, url: upload.url, source: source, state: state)
            }
            let asks = state.map { ConfirmingPut.isState($0) } ?? false
            let upgrade = try resumable(spec, upload, source, .upgrade, secrets)
            let isOffered = source.size >= upgradeSize || state != nil && !asks
            let known = asks ? nil : state
            var plain: (any UploadDialogue)?
            if options.createFolders {
                plain = FolderMakingPut(
                    url: upload.url, method: spec.method, source: source, upgrade: isOffered ? upgrade : nil,
                    state: known)
            } else if isOffered {
                plain = ResumableDialogue(source: source, options: upgrade, state: known)
            }
            if asks, let state {
                plain =
                    ConfirmingPut(url: upload.url, method: spec.method, source: source, state: state, otherwise: plain)
                    ?? plain
            }
            return plain.map { receipted($0, upload, source, state) }
        case .multipart:
            let form = FormUpload(
                url: upload.url, method: spec.method, source: source, fields: try fields(options.fields, secrets),
                fileField: options.fileField)
            return receipted(form, upload, source, state)
        case .tus:
            var tus = TusOptions()
            tus.chunkSize = options.chunkSize
            tus.parallel = options.parallel ?? 1
            tus.checksum = options.tus.checksum
            tus.createsWithBody = options.tus.createsWithUpload
            tus.metadata = try fields(options.metadata, secrets).map { TusMetadata($0.name, $0.value) }
            return TusDialogue(url: upload.url, source: source, options: tus, state: state)
        case .s3:
            let access = spec.settings.s3 ?? JobSettings.S3Access()
            var s3 = S3Options()
            if let size = options.chunkSize { (s3.partSize, s3.threshold) = (size, size) }
            if let parallel = options.parallel { s3.parallel = parallel }
            if let integrity = access.integrity {
                s3.integrity = S3Options.Integrity(rawValue: integrity.rawValue) ?? .sha256
            }
            s3.headers = try headers(spec.settings, secrets)
            for field in try fields(options.metadata, secrets) {
                s3.headers.append(HeaderField("x-amz-meta-" + field.name, field.value))
            }
            return S3Dialogue(
                location: try access.location(upload.url, secrets), credentials: try access.credentials(secrets),
                source: source, options: s3, state: state)
        case .ftp where options.inPlace, .sftp where options.inPlace:
            return FileServerUpload.inPlace(url: upload.url, source: source, state: state)
        case .ftp, .sftp:
            let mark = String(UInt64.random(in: 0..<1 << 48), radix: 36)
            return FileServerUpload(url: upload.url, source: source, state: state, mark: mark)
        case .resumable:
            let isAccepted = state.map { ReceiptDialogue.isState($0) } ?? false
            let resumable = ResumableDialogue(
                source: source, options: try resumable(spec, upload, source, .careful, secrets),
                state: isAccepted ? nil : state)
            return receipted(resumable, upload, source, state)
        }
    }

    /// With its end held to what is a receipt.
    static func receipted(
        _ dialogue: any UploadDialogue, _ upload: JobSpec.Upload, _ source: UploadSource, _ state: String?
    ) -> any UploadDialogue {
        ReceiptDialogue(dialogue, rule: upload.receipt, url: upload.url, source: source, state: state)
    }

    /// What the owner says of the content goes before what the protocol would say of it.
    private static func resumable(
        _ spec: JobSpec, _ upload: JobSpec.Upload, _ source: UploadSource, _ mode: ResumableOptions.Mode,
        _ secrets: SecretSource
    ) throws(TransferError) -> ResumableOptions {
        var fields = try headers(spec.settings, secrets).filter { OwnersFields.isOfContent($0.name) }
        if let type = FileType.field(for: source.name, at: upload.url, beside: fields) { fields.append(type) }
        return ResumableOptions(
            url: upload.url, method: spec.method, mode: mode, chunkSize: upload.options.chunkSize, headers: fields)
    }

    /// Whether a state says of itself how to go on: where the upload is, or that the server is to be asked.
    static func knowsTheWay(_ state: String) -> Bool {
        ConfirmingPut.isState(state) || ReceiptDialogue.isState(state) || VerifyingDialogue.isVerifying(state)
            || ResumableDialogue.knowsUpload(state)
    }

    private static func headers(
        _ settings: JobSettings, _ secrets: SecretSource
    ) throws(TransferError) -> [HeaderField] {
        var result: [HeaderField] = []
        for header in settings.headers { result.append(HeaderField(header.name, try secrets.read(header.value))) }
        return result
    }

    private static func fields(
        _ fields: [JobSpec.Upload.Field], _ secrets: SecretSource
    ) throws(TransferError) -> [HeaderField] {
        var result: [HeaderField] = []
        for field in fields { result.append(HeaderField(field.name, try secrets.read(field.value))) }
        return result
    }
}
