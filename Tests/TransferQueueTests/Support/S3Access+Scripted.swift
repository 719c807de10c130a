import TransferTestServer

@testable import TransferJobs

extension JobSettings.S3Access {
    /// Returns the access to a scripted server, which accepts any key.
    static func scripted(_ server: TestServer) -> Self {
        var access = Self()
        access.endpoint = server.url("")
        access.region = "us-east-1"
        access.style = .path
        access.accessKey = .literal("key")
        access.secretKey = .literal("secret")
        return access
    }
}
