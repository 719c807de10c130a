import TransferCore

/// The place at which a server says that an upload is.
enum UploadLocation {
    /// - Parameter base: The URL that answered.
    /// - Returns: Absolute, without fragment and userinfo; `nil` for what is no http or https URL with a host.
    static func url(_ location: String, from base: String) -> String? {
        guard !location.isEmpty, let url = URLReference.resolve(location, against: base), Origin(url: url) != nil else {
            return nil
        }
        return url
    }
}

extension UploadAnswer {
    var isSuccess: Bool { (200..<300).contains(head.status) }
}
