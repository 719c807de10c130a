import Foundation
import Glibc
import TransferTestServer
import TransferTestSupport

/// A place with a hook command that records its messages.
struct HookPlace {
    let place: Workplace
    /// A script that appends the message to `reported`, and its ID from the environment to `ids`; then it runs `rest`.
    let script: String

    init(_ name: String = "hook", rest: String = "") throws {
        place = try Workplace(name)
        script = place.folder.path("tell.sh")
        try write(rest: rest)
    }

    func write(rest: String) throws {
        let folder = place.folder.path
        _ = try place.folder.write(
            """
            #!/bin/sh
            echo "$TRANSFER_EVENT_ID" >> '\(folder)/ids'
            printf '%s\\n' "$(cat)" >> '\(folder)/told'
            \(rest)

            """, to: "tell.sh")
        chmod(script, 0o755)
    }

    /// The recorded messages; without a file there are none.
    var reported: [JSONValue] {
        get throws {
            guard let text = try? place.folder.text("told") else { return [] }
            return try text.split(separator: "\n").map { try JSONValue.parse(Data($0.utf8)) }
        }
    }

    var ids: [String] { ((try? place.folder.text("ids")) ?? "").split(separator: "\n").map(String.init) }

    var option: String { "--on-finish=tell=\(script)" }
}
