import Foundation
import TransferTestServer

/// A runner of the `curl` command, a client that was not written for this server.
struct Curl {
    let output: [UInt8]
    let status: Int32

    init(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "--silent", "--max-time", "20", "--noproxy", ""] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        output = [UInt8](pipe.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        status = process.terminationStatus
    }

    var text: String { String(decoding: output, as: UTF8.self) }
}
