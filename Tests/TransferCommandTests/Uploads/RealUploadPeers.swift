import Foundation
import TransferTestSupport

/// rclone's S3 server, which checks signatures and writes parts into the object's file in the order of their numbers.
final class RclonePeer: UploadPeer {
    private let server: PythonServer
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder("rclone")
        try folder.folder("root/bucket")
        server = try await PythonServer.start(
            { ["serve", "s3", "--addr", "127.0.0.1:\($0)", "--auth-key", "key,secret", "root"] }, program: "rclone",
            in: folder.path, environment: ["HOME": folder.path, "RCLONE_CONFIG": folder.path("rclone.conf")],
            mark: "Starting s3 server")
    }

    var port: UInt16 { server.port }
    func target(_ port: UInt16) -> (url: String, members: String) {
        let access = #""endpoint": "http://127.0.0.1:\#(port)", "accessKey": "key", "secretKey": {"file": "secret"}"#
        return ("s3://bucket/dir/f", #""chunkSize": "5M", "parallel": 1, "s3": {\#(access)}"#)
    }

    /// Returns the complete objects; an unfinished one has a hidden name.
    func objects() async throws -> [String] {
        var sums: [String] = []
        for name in try folder.files(below: "root/bucket") where !name.contains("/.rclone_temp_multipart_") {
            sums.append(try await folder.sha256("root/bucket/" + name))
        }
        return sums
    }

    func unfinished() async throws -> Int { try await uploads(.count) }
    func expire() async throws { _ = try await uploads(.abort) }

    private enum Wish: String {
        case count, abort
    }

    /// - Returns: The number of uploads that the server lists, through Amazon's own client, which moto includes.
    private func uploads(_ wish: Wish) async throws -> Int {
        let script = """
            import boto3, sys
            from botocore.config import Config
            s3 = boto3.client("s3", endpoint_url=sys.argv[1], aws_access_key_id="key", aws_secret_access_key="secret",
                region_name="us-east-1", config=Config(s3={"addressing_style": "path"}))
            uploads = s3.list_multipart_uploads(Bucket="bucket").get("Uploads", [])
            if sys.argv[2] == "abort":
                for upload in uploads:
                    s3.abort_multipart_upload(Bucket="bucket", Key=upload["Key"], UploadId=upload["UploadId"])
            print(len(uploads))
            """
        let said = try await PythonServer.run(
            script, ["http://127.0.0.1:\(server.port)", wish.rawValue], in: folder.path)
        guard let count = Int(said.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw TestSupportError("no count of uploads: \(said)")
        }
        return count
    }
}

/// NIOResumableUpload, of interop version 6.
final class ResumableNIOPeer: UploadPeer {
    private let server: ResumableNIOServer

    init() async throws { server = try await ResumableNIOServer.start() }

    var port: UInt16 { server.port }
    func target(_ port: UInt16) -> (url: String, members: String) {
        ("http://127.0.0.1:\(port)/in/f", #""protocol": "resumable""#)
    }
    func objects() async throws -> [String] { try await server.objects() }
    func unfinished() async throws -> Int { try server.unfinished() }
    func expire() async throws { server.forget() }
}

/// Uses the system's command, which reads 1 GiB in a second.
func sha256(ofFile path: String) async throws -> String {
    let result = try await ChildProcess.start(
        ChildProcess.Command("/usr/bin/sha256sum", ["--", path], timeout: .seconds(120))
    ).result()
    guard let sum = result.standardOutput.split(separator: " ").first else { throw TestSupportError("\(result)") }
    return String(sum)
}
