"""Several processes of the app behind one address: what `make serve-app` starts.

supervisord keeps the processes and nginx running; their configurations are the templates beside
this file.
"""
