"""Several processes of the app behind one address, started by `make serve-app`.

supervisord keeps the processes and nginx running; their configurations are the templates in this
folder.
"""
