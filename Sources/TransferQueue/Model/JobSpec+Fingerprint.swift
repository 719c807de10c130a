import TransferCore
import TransferUpload

extension JobSpec {
    /// Changes when the job would bring another result: what is moved, from where, to where, and how it is asked for.
    ///
    /// Rules of patience (retries, rates, priorities) and the signatures of presigned URLs don't count. FNV-1a, as it
    /// has to be the same in every process.
    var fingerprint: Int64 { JobFields.all.fingerprint(of: self) }

    /// Scheme, host and port that the job speaks to, with the mirror of that number.
    func origin(mirror: Int) -> String {
        let url =
            switch work {
            case .download(let download): download.urls[min(mirror, download.urls.count - 1)]
            case .upload(let upload): upload.url
            }
        // What the environment may add to an object's is the same for all of them.
        return settings.origin(of: url, SecretSource())?.description ?? ""
    }

    /// Whether it's another job when relative paths start elsewhere.
    var hasRelativePath: Bool {
        switch work {
        case .download(let download): !download.destination.hasPrefix("/")
        case .upload(let upload): !upload.source.hasPrefix("/")
        }
    }

    /// What two jobs of a batch must not have in common; empty for an upload whose server gives the names. In a folder
    /// each URL has a file of its own, as far as anybody knows before its server has answered.
    ///
    /// - Parameter directory: What relative paths start from.
    func destinationKey(directory: String) -> String {
        switch work {
        case .download(let download):
            let target = DownloadTarget(download.destination, directory: directory)
            let path = DestinationPath.normalized(target.path)
            return target.isFolder ? path + Redaction.url(download.urls.first ?? "") : path
        case .upload(let upload):
            return upload.uploadProtocol.givesNames ? "" : Self.destinationKey(ofUploadTo: upload.url, settings)
        }
    }

    /// The same bucket and key at two endpoints are two objects.
    static func destinationKey(ofUploadTo url: String, _ settings: JobSettings) -> String {
        let place = Redaction.url(url)
        guard JobSpec.UploadProtocol.of(url: url) == .s3, let endpoint = settings.s3?.endpoint else { return place }
        return "\(place) \(endpoint)"
    }

    public var isUpload: Bool {
        if case .upload = work { return true }
        return false
    }
}

/// The FNV-1a hash, 64 bits.
struct FNV1a {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ text: String) {
        let isMixed: Void? = text.utf8.withContiguousStorageIfAvailable { bytes in
            var value = value
            for byte in bytes { value = (value ^ UInt64(byte)) &* Self.prime }
            self.value = value
        }
        if isMixed == nil { for byte in text.utf8 { mix(byte) } }
        // Keeps "ab", "c" apart from "a", "bc".
        mix(0xFF)
    }

    private mutating func mix(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* Self.prime }

    private static let prime: UInt64 = 0x100_0000_01B3
}
