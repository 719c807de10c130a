import Foundation
import TransferKit

/// A download with progress that can be stopped at any time and resumed later by another process.
///
///     resumable-download URL FILE [--stop-at PERCENT]
///
/// After a stop (`--stop-at 50`, or a lost connection) the file `FILE.resume` remains, and the same command resumes
/// from there.
@main
struct ResumableDownload {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2 || (arguments.count == 4 && arguments.dropFirst(2).first == "--stop-at"),
            let url = arguments.first, let path = arguments.dropFirst().first
        else {
            print("usage: resumable-download URL FILE [--stop-at PERCENT]")
            exit(64)
        }
        let stop = arguments.count == 4 ? arguments.last.flatMap(Double.init).map { $0 / 100 } : nil
        exit(await run(url, URL(fileURLWithPath: path), stop))
    }

    static func run(_ url: String, _ file: URL, _ stop: Double?) async -> Int32 {
        let resumeFile = file.appendingPathExtension("resume")
        let destination = DownloadRequest.destination(
            file, options: [.removePreviousFile, .createIntermediateDirectories])
        let request: DownloadRequest
        if let data = try? Data(contentsOf: resumeFile) {
            print("going on with the download")
            request = AF.download(resumingWith: data, interceptor: .retryPolicy, to: destination)
        } else {
            request = AF.download(url, interceptor: .retryPolicy, to: destination)
        }
        request.validate().downloadProgress { [weak request] progress in
            guard progress.totalUnitCount > 0 else { return }
            print("\(Int(progress.fractionCompleted * 100)) % of \(progress.totalUnitCount) bytes")
            if let stop, progress.fractionCompleted >= stop, progress.fractionCompleted < 1 {
                request?.cancel(producingResumeData: true)
            }
        }

        let response = await request.serializingDownloadedFileURL().response
        switch response.result {
        case .success(let saved):
            try? FileManager.default.removeItem(at: resumeFile)
            let resumed = response.response?.statusCode == 206
            print("complete: \(saved.path)\(resumed ? " (continued)" : "")")
            return 0
        case .failure(let error):
            guard let data = response.resumeData else {
                print("failed: \(error)")
                return 1
            }
            // The file has the given URL with its signature, so only the owner may read it.
            guard
                FileManager.default.createFile(
                    atPath: resumeFile.path, contents: data, attributes: [.posixPermissions: 0o600])
            else {
                print("failed: cannot write \(resumeFile.path)")
                return 1
            }
            print("stopped: \(error); to go on, run the same command again")
            return 75
        }
    }
}
