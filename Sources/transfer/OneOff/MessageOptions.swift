import ArgumentParser
import TransferCore
import TransferQueue

/// What a download's request is and says, where that isn't GET and nothing.
struct MessageOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("method"), .customLong("request")],
        help: ArgumentHelp("The request's method.", valueName: "name"))
    var method: String?

    @Option(
        help: ArgumentHelp(
            "What the request says, as it is; @FILE is what a file holds. It's a POST then.", valueName: "text|@file"))
    var data: String?

    func validate() throws {
        if let refusal = method.flatMap(HeaderRule.refusal(ofMethod:)) { throw ValidationError("--method: \(refusal)") }
    }

    func body() throws -> String? { try data.map(DataArgument.text) }
}
