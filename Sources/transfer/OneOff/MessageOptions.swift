import ArgumentParser
import TransferCore
import TransferQueue

/// The method and the body of a download's request; GET without a body by default.
struct MessageOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("method"), .customLong("request")],
        help: ArgumentHelp("The request's method.", valueName: "name"), transform: MethodArgument.text)
    var method: String?

    @Option(
        help: ArgumentHelp(
            "What the request says, as it is; @FILE is what a file holds. It's a POST then.", valueName: "text|@file"))
    var data: String?

    func body() throws -> String? { try data.map(DataArgument.text) }
}
