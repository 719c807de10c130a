public import Foundation
import FoundationNetworking
import TransferCore

extension DownloadRequest {
    /// A destination in one of the user's folders, named by the server (Content-Disposition) or the URL, made safe.
    @preconcurrency
    public class func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory,
        in domain: FileManager.SearchPathDomainMask = .userDomainMask, options: Options = []
    ) -> Destination {
        { temporary, response in
            guard let folder = FileManager.default.urls(for: directory, in: domain).first else {
                return (temporary, options)
            }
            let name = SafeFileName.forDownload(
                url: response.url?.absoluteString ?? "",
                disposition: response.value(forHTTPHeaderField: "Content-Disposition"))
            return (folder.appendingPathComponent(name), options)
        }
    }

    /// A destination that doesn't depend on the answer.
    @preconcurrency
    public static func destination(_ url: URL, options: Options = []) -> Destination { { _, _ in (url, options) } }
}
